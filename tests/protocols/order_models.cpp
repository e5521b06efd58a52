// SPDX-License-Identifier: Apache-2.0
// The memory models of processors, as relations that must be acyclic.
//
// ARM: Pulte et al., "Simplifying ARM concurrency", POPL 2018. POWER: Alglave, Maranget, Tautschnig, "Herding
// cats", TOPLAS 36 (2014). x86: Owens, Sarkar, Sewell, "A better x86 memory model: x86-TSO", TPHOLs 2009.
//
// Where compilers may choose, the models assume the weaker instructions: LDAPR for acquiring loads, loops of
// exclusive loads and stores for atomic updates. Address and data dependencies do not order anything, since
// compilers need not keep them.
#include "order_explorer.hpp"

namespace protocols {
namespace {

using kind = order_event::kind;

/// Terms that all models use.
struct terms {
  const order_execution& x;
  std::size_t n;
  event_set all = 0;
  event_set loads = 0;
  event_set stores = 0;
  event_set acquiring = 0;
  event_set releasing = 0;
  event_set strong = 0;
  order_relation same_thread;
  order_relation same_place;
  order_relation from_reads;  ///< from a load to the stores that follow the one it read from
  order_relation update;      ///< from the load of an update to its store
  order_relation control;     ///< from a load to all events after a branch that depends on it

  explicit terms(const order_execution& of)
      : x(of),
        n(of.events.size()),
        same_thread(n),
        same_place(n),
        from_reads(of.reads_from.inverse().then(of.coherence)),
        update(n),
        control(n) {
    for (std::size_t i = 0; i < n; ++i) {
      const order_event& e = x.events[i];
      const event_set one = event_set{1} << i;
      all |= one;
      if (e.reads()) loads |= one;
      if (e.writes()) stores |= one;
      if (e.acquires) acquiring |= one;
      if (e.releases) releasing |= one;
      if (e.is_strong) strong |= one;
      if (e.reads() && e.partner >= 0) update.add(i, static_cast<std::size_t>(e.partner));
      for (std::size_t j = 0; j < n; ++j) {
        const order_event& other = x.events[j];
        if (e.thread >= 0 && e.thread == other.thread) same_thread.add(i, j);
        if (e.place >= 0 && e.place == other.place) same_place.add(i, j);
        if (e.reads() && e.decides && x.program_order.has(i, j)) control.add(i, j);
      }
    }
  }

  [[nodiscard]] order_relation internal(const order_relation& r) const { return r & same_thread; }
  [[nodiscard]] order_relation external(const order_relation& r) const {
    order_relation out(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (r.has(i, j) && !same_thread.has(i, j)) out.add(i, j);
    return out;
  }
  [[nodiscard]] event_set that_are(kind what) const {
    event_set out = 0;
    for (std::size_t i = 0; i < n; ++i)
      if (x.events[i].what == what) out |= event_set{1} << i;
    return out;
  }
  /// Pairs in program order with such a barrier in between.
  [[nodiscard]] order_relation around(kind barrier) const {
    const event_set these = that_are(barrier);
    return x.program_order.between(all, these).then(x.program_order.between(these, all));
  }
  /// Whether no store comes between the load and the store of an update.
  [[nodiscard]] bool are_atomic() const {
    return (update & external(from_reads).then(external(x.coherence))).is_empty();
  }
};

bool is_allowed_on_x86(const terms& t) {
  const order_relation& po = t.x.program_order;
  const event_set accesses = t.loads | t.stores;
  const order_relation kept = po.between(t.loads, accesses) | po.between(accesses, t.stores) |
                              po.between(t.strong, accesses) | po.between(accesses, t.strong) |
                              t.around(kind::full_barrier);
  return (kept | t.external(t.x.reads_from) | t.x.coherence | t.from_reads).is_acyclic();
}

bool is_allowed_on_arm(const terms& t) {
  const order_relation& po = t.x.program_order;
  const event_set strong_loads = t.acquiring & t.strong;
  const order_relation observed =
      t.external(t.x.reads_from) | t.external(t.from_reads) | t.external(t.x.coherence);
  event_set updated = 0;
  for (std::size_t i = 0; i < t.n; ++i) updated |= t.update.after(i);
  const order_relation of_updates = t.update | t.internal(t.x.reads_from).between(updated, t.acquiring);
  const order_relation by_barriers =
      t.around(kind::full_barrier) | t.around(kind::load_barrier).between(t.loads, t.all) |
      po.between(t.releasing, strong_loads) | po.between(t.acquiring, t.all) | po.between(t.all, t.releasing);
  return (observed | t.control.between(t.loads, t.stores) | of_updates | by_barriers).is_acyclic();
}

/// The order that one thread's loads and stores keep without barriers.
order_relation kept_on_power(const terms& t) {
  const order_relation& po = t.x.program_order;
  const order_relation po_place = po & t.same_place;
  const order_relation rfe = t.external(t.x.reads_from);
  // i: begins, c: commits; ic is "begins before the other commits".
  const order_relation ii0 = (po_place & t.external(t.from_reads).then(rfe)) | t.internal(t.x.reads_from);
  const order_relation ci0 =
      po.between(t.acquiring, t.all) | (po_place & t.external(t.x.coherence).then(rfe));
  const order_relation cc0 = po_place | t.control;
  order_relation ii = ii0;
  order_relation ic(t.n);
  order_relation ci = ci0;
  order_relation cc = cc0;
  for (;;) {
    const order_relation ii_before = ii;
    const order_relation ic_before = ic;
    const order_relation ci_before = ci;
    const order_relation cc_before = cc;
    ii |= ci | ic.then(ci) | ii.then(ii);
    ic |= ii | cc | ic.then(cc) | ii.then(ic);
    ci |= ci.then(ii) | cc.then(ci);
    cc |= ci | ci.then(ic) | cc.then(cc);
    if (ii == ii_before && ic == ic_before && ci == ci_before && cc == cc_before) break;
  }
  return ii.between(t.loads, t.loads) | ic.between(t.loads, t.stores);
}

bool is_allowed_on_power(const terms& t) {
  const event_set accesses = t.loads | t.stores;
  const order_relation light = t.around(kind::light_barrier);
  const order_relation full = t.around(kind::full_barrier).between(accesses, accesses);
  const order_relation barriers = light.between(t.loads, accesses) | light.between(accesses, t.stores) | full;
  const order_relation rfe = t.external(t.x.reads_from);
  const order_relation before = kept_on_power(t) | barriers | rfe;
  if (!before.is_acyclic()) return false;
  const order_relation before_or_same = before.closure_or_same();
  const order_relation base = (barriers | rfe.then(barriers)).then(before_or_same);
  const order_relation communication = t.x.reads_from | t.x.coherence | t.from_reads;
  const order_relation propagates =
      base.between(t.stores, t.stores) |
      communication.closure_or_same().then(base.closure_or_same()).then(full).then(before_or_same);
  return t.external(t.from_reads).then(propagates).then(before_or_same).is_irreflexive() &&
         (t.x.coherence | propagates).is_acyclic();
}

}  // namespace

bool is_allowed(processor on, const order_execution& x) {
  const terms t(x);
  if (!t.are_atomic()) return false;
  switch (on) {
    case processor::x86:
      return is_allowed_on_x86(t);
    case processor::arm:
      return is_allowed_on_arm(t);
    case processor::power:
      return is_allowed_on_power(t);
  }
  return false;
}

}  // namespace protocols
