// SPDX-License-Identifier: Apache-2.0
#include "order_explorer.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

namespace protocols {

namespace {

constexpr bool acquires(std::memory_order how) {
  return how != std::memory_order_relaxed && how != std::memory_order_release;
}
constexpr bool releases(std::memory_order how) {
  return how == std::memory_order_release || how == std::memory_order_acq_rel ||
         how == std::memory_order_seq_cst;
}

}  // namespace

void explored_thread::barrier(order_event::kind what) {
  order_event e;
  e.what = what;
  e.thread = number_;
  events_.push_back(e);
}

std::size_t explored_thread::read(int place, bool acquires, bool is_strong) {
  const auto& candidates = values_[static_cast<std::size_t>(place)];
  if (chosen_ == choices_.size()) choices_.push_back(0);
  order_event e;
  e.what = order_event::kind::load;
  e.thread = number_;
  e.place = place;
  e.value = candidates[choices_[chosen_++]];
  e.acquires = acquires;
  e.is_strong = is_strong;
  events_.push_back(e);
  return events_.size() - 1;
}

void explored_thread::write(int place, int value, bool releases, bool is_strong) {
  order_event e;
  e.what = order_event::kind::store;
  e.thread = number_;
  e.place = place;
  e.value = value;
  e.releases = releases;
  e.is_strong = is_strong;
  events_.push_back(e);
}

explored_thread::seen explored_thread::load(int place, order how) {
  const bool is_full = how == std::memory_order_seq_cst;
  if (on_ == processor::power && is_full) barrier(order_event::kind::full_barrier);
  return {*this, read(place, protocols::acquires(how), on_ == processor::arm && is_full)};
}

void explored_thread::store(int place, int value, order how) {
  const bool is_full = how == std::memory_order_seq_cst;
  if (on_ == processor::power && protocols::releases(how))
    barrier(is_full ? order_event::kind::full_barrier : order_event::kind::light_barrier);
  write(place, value, protocols::releases(how), on_ == processor::x86 && is_full);
}

void explored_thread::fence(order how) {
  const bool is_full = how == std::memory_order_seq_cst;
  if (is_full || (on_ == processor::arm && protocols::releases(how)))
    barrier(order_event::kind::full_barrier);
  else if (on_ == processor::arm)
    barrier(order_event::kind::load_barrier);
  else if (on_ == processor::power)
    barrier(order_event::kind::light_barrier);
}

/// `change(old)`: whether a new value is stored, and the value.
template <class Change>
int explored_thread::modify(int place, order how, const Change& change) {
  if (on_ == processor::power && protocols::releases(how))
    barrier(how == std::memory_order_seq_cst ? order_event::kind::full_barrier
                                             : order_event::kind::light_barrier);
  const bool is_strong = on_ == processor::x86 || (on_ == processor::arm && protocols::acquires(how));
  const std::size_t first = read(place, protocols::acquires(how), is_strong);
  events_[first].decides = true;
  const int old = events_[first].value;
  int fresh = 0;
  if (change(old, fresh)) {
    write(place, fresh, protocols::releases(how), on_ == processor::x86);
    events_[first].partner = static_cast<int>(events_.size() - 1);
    events_.back().partner = static_cast<int>(first);
  }
  return old;
}

int explored_thread::exchange(int place, int value, order how) {
  return modify(place, how, [value](int, int& fresh) {
    fresh = value;
    return true;
  });
}

int explored_thread::add(int place, int value, order how) {
  return modify(place, how, [value](int old, int& fresh) {
    fresh = old + value;
    return true;
  });
}

bool explored_thread::compare_exchange(int place, int expected, int value, order how) {
  return modify(place, how, [expected, value](int old, int& fresh) {
           fresh = value;
           return old == expected;
         }) == expected;
}

void explored_thread::require(bool condition) const {
  if (!condition) throw gives_up{};
}

void explored_thread::tell(int what, int value) {
  told_.emplace_back(what, value);
}

namespace {

/// For one place, the store that each load reads from and the order of its stores, which are coherent.
struct place_choice {
  std::vector<std::pair<std::size_t, std::size_t>> reads;  ///< (store, load)
  std::vector<std::size_t> stores;                         ///< in order
};

}  // namespace

class order_explorer {
 public:
  order_explorer(processor on, const order_program& program,
                 const std::function<bool(const order_outcome&)>& judge)
      : on_(on), program_(program), judge_(judge) {}

  void run() {
    find_paths();
    combine(0, {});
  }

 private:
  /// One run of a body.
  struct path {
    bool ends;
    std::vector<order_event> events;
    std::vector<std::pair<int, int>> told;
    std::uint64_t read = 0;  ///< which values of which places; see `bit_of`
    std::uint64_t written = 0;
  };

  /// Finds all runs. Loads may return any value that some run stores, even a run that gives up later. What a
  /// run stores depends on its loads: a chain of at most as many steps as there are stores.
  void find_paths() {
    for (const int value : program_.initial) values_.push_back({value});
    bool grown = true;
    for (std::size_t round = 0; grown && round <= most_stores(); ++round) {
      grown = false;
      paths_.assign(program_.bodies.size(), {});
      const auto values = values_;
      for (std::size_t i = 0; i < program_.bodies.size(); ++i) find_paths_of(i, values);
      for (const auto& of_body : paths_)
        for (const path& p : of_body)
          for (const order_event& e : p.events) {
            if (!e.writes()) continue;
            auto& known = values_[static_cast<std::size_t>(e.place)];
            if (std::find(known.begin(), known.end(), e.value) != known.end()) continue;
            known.push_back(e.value);
            grown = true;
            if (known.size() > most_values) throw std::logic_error("too many values for one place");
          }
    }
    if (values_.size() * most_values > 64) throw std::logic_error("too many places");
    for (auto& of_body : paths_) {
      std::erase_if(of_body, [](const path& p) { return !p.ends; });
      for (path& p : of_body)
        for (const order_event& e : p.events)
          if (e.place >= 0) (e.reads() ? p.read : p.written) |= bit_of(e.place, e.value);
    }
  }

  [[nodiscard]] std::uint64_t bit_of(int place, int value) const {
    const auto& known = values_[static_cast<std::size_t>(place)];
    const auto at = std::find(known.begin(), known.end(), value) - known.begin();
    return std::uint64_t{1} << (static_cast<std::size_t>(place) * most_values + static_cast<std::size_t>(at));
  }

  [[nodiscard]] std::size_t most_stores() const {
    std::size_t all = 0;
    for (const auto& of_body : paths_) {
      std::size_t most = 0;
      for (const path& p : of_body) {
        const auto stores =
            std::count_if(p.events.begin(), p.events.end(), [](const auto& e) { return e.writes(); });
        most = std::max(most, static_cast<std::size_t>(stores));
      }
      all += most;
    }
    return all;
  }

  void find_paths_of(std::size_t body, const std::vector<std::vector<int>>& values) {
    std::vector<std::size_t> choices;
    for (;;) {
      explored_thread t(on_, static_cast<int>(body), values, choices);
      bool ends = true;
      try {
        program_.bodies[body](t);
      } catch (const explored_thread::gives_up&) {
        ends = false;
      }
      std::vector<std::size_t> widths;
      for (const order_event& e : t.events_)
        if (e.reads()) widths.push_back(values[static_cast<std::size_t>(e.place)].size());
      paths_[body].push_back({.ends = ends, .events = std::move(t.events_), .told = std::move(t.told_)});
      choices.resize(widths.size());
      while (!choices.empty() && choices.back() + 1 == widths[choices.size() - 1]) choices.pop_back();
      if (choices.empty()) return;
      ++choices.back();
    }
  }

  void combine(std::size_t body, std::vector<const path*> chosen) {
    if (body == paths_.size()) return try_all(chosen);
    for (const path& p : paths_[body]) {
      if (!goes_on_) return;
      chosen.push_back(&p);
      combine(body + 1, chosen);
      chosen.pop_back();
    }
  }

  void try_all(const std::vector<const path*>& chosen) {
    std::uint64_t read = 0;
    std::uint64_t written = 0;
    for (const path* p : chosen) {
      read |= p->read;
      written |= p->written;
    }
    for (std::size_t i = 0; i < program_.initial.size(); ++i)
      written |= bit_of(static_cast<int>(i), program_.initial[i]);
    if ((read & ~written) != 0) return;
    std::vector<order_event> events;
    for (std::size_t i = 0; i < program_.initial.size(); ++i) {
      order_event e;
      e.what = order_event::kind::store;
      e.place = static_cast<int>(i);
      e.value = program_.initial[i];
      events.push_back(e);
    }
    for (const path* p : chosen) {
      const auto begin = static_cast<int>(events.size());
      for (order_event e : p->events) {
        if (e.partner >= 0) e.partner += begin;
        events.push_back(e);
      }
    }
    if (events.size() > 64) throw std::logic_error("too many events");
    const std::size_t n = events.size();
    order_execution x{std::move(events), order_relation(n), order_relation(n), order_relation(n)};
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j)
        if (x.events[i].thread >= 0 && x.events[i].thread == x.events[j].thread) x.program_order.add(i, j);
    std::vector<std::vector<place_choice>> choices;
    for (std::size_t place = 0; place < program_.initial.size(); ++place) {
      choices.push_back(coherent(x, static_cast<int>(place)));
      if (choices.back().empty()) return;
    }
    order_outcome result{std::vector<int>(static_cast<std::size_t>(program_.tells), -1), {}};
    for (const path* p : chosen)
      for (const auto& [what, value] : p->told) result.told[static_cast<std::size_t>(what)] = value;
    judge_all(x, choices, 0, result);
  }

  /// All coherent choices for one place, considered alone.
  static std::vector<place_choice> coherent(const order_execution& x, int place) {
    std::vector<std::size_t> loads;
    std::vector<std::size_t> stores;
    for (std::size_t i = 0; i < x.events.size(); ++i) {
      if (x.events[i].place != place) continue;
      (x.events[i].reads() ? loads : stores).push_back(i);
    }
    std::vector<place_choice> out;
    // The initial value is the first.
    do {
      place_choice choice{{}, stores};
      read_all(x, loads, choice, out);
    } while (std::next_permutation(stores.begin() + 1, stores.end()));
    return out;
  }

  static void read_all(const order_execution& x, const std::vector<std::size_t>& loads, place_choice& choice,
                       std::vector<place_choice>& out) {
    if (choice.reads.size() == loads.size()) {
      if (is_coherent(x, choice)) out.push_back(choice);
      return;
    }
    const std::size_t load = loads[choice.reads.size()];
    for (const std::size_t store : choice.stores) {
      if (x.events[store].value != x.events[load].value) continue;
      choice.reads.emplace_back(store, load);
      read_all(x, loads, choice, out);
      choice.reads.pop_back();
    }
  }

  /// No thread goes back in the order of stores: the store that an event makes or reads from is not earlier
  /// than that of the thread's previous event.
  static bool is_coherent(const order_execution& x, const place_choice& choice) {
    std::vector<std::pair<std::size_t, std::size_t>> events;  // (event, position in the order of stores)
    for (std::size_t at = 0; at < choice.stores.size(); ++at) {
      events.emplace_back(choice.stores[at], at);
      for (const auto& [store, load] : choice.reads)
        if (store == choice.stores[at]) events.emplace_back(load, at);
    }
    for (const auto& [first, before] : events)
      for (const auto& [second, after] : events)
        if (x.program_order.has(first, second) &&
            (x.events[second].writes() ? before >= after : before > after))
          return false;
    return true;
  }

  static void add(const place_choice& choice, order_relation& reads_from, order_relation& coherence) {
    for (const auto& [store, load] : choice.reads) reads_from.add(store, load);
    for (std::size_t i = 0; i < choice.stores.size(); ++i)
      for (std::size_t j = i + 1; j < choice.stores.size(); ++j)
        coherence.add(choice.stores[i], choice.stores[j]);
  }

  void judge_all(const order_execution& x, const std::vector<std::vector<place_choice>>& choices,
                 std::size_t place, order_outcome& result) {
    if (place == choices.size()) {
      if (is_allowed(on_, x)) goes_on_ = judge_(result);
      return;
    }
    for (const place_choice& choice : choices[place]) {
      if (!goes_on_) return;
      order_execution with = x;
      add(choice, with.reads_from, with.coherence);
      result.last.push_back(x.events[choice.stores.back()].value);
      judge_all(with, choices, place + 1, result);
      result.last.pop_back();
    }
  }

  static constexpr std::size_t most_values = 12;  ///< of one place
  processor on_;
  const order_program& program_;
  const std::function<bool(const order_outcome&)>& judge_;
  bool goes_on_ = true;
  std::vector<std::vector<int>> values_;
  std::vector<std::vector<path>> paths_;
};

bool can_happen(processor on, const order_program& program,
                const std::function<bool(const order_outcome&)>& condition) {
  bool happens = false;
  const std::function<bool(const order_outcome&)> judge = [&](const order_outcome& result) {
    happens = condition(result);
    return !happens;
  };
  order_explorer(on, program, judge).run();
  return happens;
}

}  // namespace protocols
