// SPDX-License-Identifier: Apache-2.0
// Every call that can be planned, with each rank's operands in a round and the expected results.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <chorale/plan.hpp>

#include "../support/collectives/cases.hpp"

namespace inprocess {

using number = std::uint64_t;

/// A plan, the plain call with the same arguments, and its buffers, which are filled for a round and compared
/// with a serial computation.
struct planned_call {
  std::string name;
  chorale::plan plan;
  std::function<void()> plain;
  std::function<void(std::uint64_t round)> fill;
  std::function<void()> check;
};

/// How often each rank of one process has entered a barrier.
using arrivals = std::vector<std::atomic<int>>;

/// Makes all planned calls for `count` elements per rank, or up to two more if blocks are uneven.
template <class Comm>
class planned_calls {
 public:
  planned_calls(Comm& comm, std::size_t count, bool in_place, int root, arrivals& came)
      : comm_(comm),
        count_(count),
        in_place_(in_place),
        root_(root),
        me_{comm.rank(), comm.size(), 0, in_place, count % 7} {
    add(
        "barrier", std::make_shared<entrance>(entrance{came, me()}), [this] { return comm_.plan_barrier(); },
        [this] { comm_.barrier(); }, [](auto call, auto&) { return call(); });
    add_moves();
    add_uneven_moves();
    add_reductions();
    add_exchanges();
  }
  [[nodiscard]] std::vector<planned_call>& all() noexcept { return all_; }

 private:
  /// No rank leaves a barrier before all have entered it.
  struct entrance {
    arrivals& came;
    std::size_t me;
    void fill(std::uint64_t) { ++came[me]; }
    void verify(const std::string&) const {
      for (const auto& other : came)
        if (other < came[me]) throw collectives::wrong("a barrier was left before all ranks had come");
    }
  };
  using gathered = collectives::gathered_case<number>;
  using scattered = collectives::scatter_case<number>;
  using exchanged = collectives::alltoall_case<number>;

  [[nodiscard]] std::size_t me() const { return static_cast<std::size_t>(me_.rank); }
  [[nodiscard]] bool is_root() const { return me_.rank == root_; }
  /// This rank in a call with separate buffers.
  [[nodiscard]] collectives::participant apart() const {
    auto one = me_;
    one.in_place = false;
    return one;
  }

  /// `plan` makes the plan and `plain` makes the call, with the same arguments: `with(call, buffers)` passes
  /// those of the case to either. Plans copy counts and lists, which end with the call.
  template <class Case, class Plan, class Plain, class With>
  void add(const char* name, std::shared_ptr<Case> one, Plan plan, Plain plain, With with) {
    const std::string what = std::string{name} + (in_place_ ? " in place" : "") + " of " +
                             std::to_string(count_) + " elements on rank " + std::to_string(me_.rank);
    all_.push_back({name, with(plan, *one), [one, plain, with] { with(plain, *one); },
                    [one](std::uint64_t round) { one->fill(round); }, [one, what] { one->verify(what); }});
  }

  void add_moves() {
    const auto even = collectives::even(me_.ranks, count_);
    add(
        "broadcast", std::make_shared<collectives::broadcast_case<number>>(me_, count_, root_),
        [this](auto... a) { return comm_.plan_broadcast(a...); },
        [this](auto... a) { comm_.broadcast(a...); },
        [this](auto call, auto& c) { return call(c.data.span(), chorale::root{root_}); });
    add(
        "allgather", std::make_shared<gathered>(me_, even, true),
        [this](auto... a) { return comm_.plan_allgather(a...); },
        [this](auto... a) { comm_.allgather(a...); },
        [this](auto call, auto& c) {
          return in_place_ ? call(chorale::in_place, c.all.span()) : call(c.mine(), c.all.span());
        });
    add(
        "alltoall", std::make_shared<exchanged>(me_, even, even),
        [this](auto... a) { return comm_.plan_alltoall(a...); }, [this](auto... a) { comm_.alltoall(a...); },
        [](auto call, auto& c) { return call(c.in.span(), c.out().span()); });
    add(
        "gather", std::make_shared<gathered>(me_, even, is_root()),
        [this](auto... a) { return comm_.plan_gather(a...); }, [this](auto... a) { comm_.gather(a...); },
        [this](auto call, auto& c) {
          return in_place_ && is_root() ? call(chorale::in_place, c.all.span(), chorale::root{root_})
                                        : call(c.mine(), c.all.span(), chorale::root{root_});
        });
    add(
        "scatter", std::make_shared<scattered>(me_, even, root_),
        [this](auto... a) { return comm_.plan_scatter(a...); }, [this](auto... a) { comm_.scatter(a...); },
        [this](auto call, auto& c) {
          return in_place_ && is_root() ? call(c.all.span(), chorale::in_place, chorale::root{root_})
                                        : call(c.all.span(), c.mine(), chorale::root{root_});
        });
  }

  /// Contiguous blocks of count, count + 1 and count + 2 elements in turn.
  [[nodiscard]] collectives::placement uneven(std::size_t first, std::size_t step) const {
    collectives::placement where;
    for (std::size_t r = 0; r < static_cast<std::size_t>(me_.ranks); ++r)
      where.counts.push_back(count_ + (first + step * r) % 3);
    where.room = std::accumulate(where.counts.begin(), where.counts.end(), std::size_t{0});
    return where;
  }

  void add_uneven_moves() {
    const auto where = uneven(0, 1), given = uneven(me(), 2), taken = uneven(2 * me(), 1);
    const std::vector<std::size_t> none;
    add(
        "allgatherv", std::make_shared<gathered>(me_, where, true),
        [this](auto... a) { return comm_.plan_allgatherv(a...); },
        [this](auto... a) { comm_.allgatherv(a...); },
        [where](auto call, auto& c) { return call(c.mine(), c.all.span(), where.counts); });
    add(
        "alltoallv", std::make_shared<exchanged>(apart(), given, taken),
        [this](auto... a) { return comm_.plan_alltoallv(a...); },
        [this](auto... a) { comm_.alltoallv(a...); },
        [given, taken](auto call, auto& c) {
          return call(c.in.span(), given.counts, c.out().span(), taken.counts);
        });
    add(
        "gatherv", std::make_shared<gathered>(me_, where, is_root()),
        [this](auto... a) { return comm_.plan_gatherv(a...); }, [this](auto... a) { comm_.gatherv(a...); },
        [this, where, none](auto call, auto& c) {
          return call(c.mine(), c.all.span(), where.counts, none, chorale::root{root_});
        });
    add(
        "scatterv", std::make_shared<scattered>(me_, where, root_),
        [this](auto... a) { return comm_.plan_scatterv(a...); }, [this](auto... a) { comm_.scatterv(a...); },
        [this, where, none](auto call, auto& c) {
          return call(c.all.span(), where.counts, c.mine(), none, chorale::root{root_});
        });
  }

  /// Adds a reduction of `length` elements per rank, of whose sums this rank receives the share `taken`.
  void add_sums(const char* name, const collectives::participant& who, std::size_t length,
                const collectives::share& taken, auto plan, auto plain, auto with) {
    add(name,
        std::make_shared<collectives::reduction_case<number, chorale::sum_t>>(who, length, taken,
                                                                              chorale::sum),
        plan, plain, with);
  }

  void add_reductions() {
    using chorale::sum;
    const int ranks = me_.ranks;
    const auto even = collectives::even(ranks, count_), blocks = uneven(0, 1);
    const auto of_one_buffer = [this](auto call, auto& c) {
      return in_place_ ? call(chorale::in_place, c.in.span(), sum) : call(c.in.span(), c.out().span(), sum);
    };
    add_sums(
        "reduce", me_, count_, {0, count_, is_root() ? ranks : 0},
        [this](auto... a) { return comm_.plan_reduce(a...); }, [this](auto... a) { comm_.reduce(a...); },
        [this](auto call, auto& c) {
          return in_place_ ? call(chorale::in_place, c.in.span(), sum, chorale::root{root_})
                           : call(c.in.span(), c.out().span(), sum, chorale::root{root_});
        });
    add_sums(
        "allreduce", me_, count_, {0, count_, ranks},
        [this](auto... a) { return comm_.plan_allreduce(a...); },
        [this](auto... a) { comm_.allreduce(a...); }, of_one_buffer);
    add_sums(
        "scan", me_, count_, {0, count_, me_.rank + 1}, [this](auto... a) { return comm_.plan_scan(a...); },
        [this](auto... a) { comm_.scan(a...); }, of_one_buffer);
    add_sums(
        "exscan", me_, count_, {0, count_, me_.rank}, [this](auto... a) { return comm_.plan_exscan(a...); },
        [this](auto... a) { comm_.exscan(a...); },
        [this](auto call, auto& c) {
          c.initial = number{7};
          return in_place_ ? call(chorale::in_place, c.in.span(), chorale::initial{7}, sum)
                           : call(c.in.span(), c.out().span(), chorale::initial{7}, sum);
        });
    const auto scatter_plan = [this](auto... a) { return comm_.plan_reduce_scatter(a...); };
    const auto scatter = [this](auto... a) { comm_.reduce_scatter(a...); };
    add_sums("reduce_scatter", me_, even.room, {even.first(me_.rank), count_, ranks}, scatter_plan, scatter,
             [this](auto call, auto& c) {
               return in_place_ ? call(chorale::in_place, c.in.span(), sum)
                                : call(c.in.span(), c.out().span(), sum);
             });
    add_sums("reduce_scatter with counts", apart(), blocks.room,
             {blocks.first(me_.rank), blocks.count(me_.rank), ranks}, scatter_plan, scatter,
             [blocks](auto call, auto& c) { return call(c.in.span(), c.out().span(), blocks.counts, sum); });
  }

  void add_exchanges() {
    const int right = (me_.rank + 1) % me_.ranks, left = (me_.rank + me_.ranks - 1) % me_.ranks;
    const auto only = [this](int peer) {
      collectives::placement where{std::vector<std::size_t>(static_cast<std::size_t>(me_.ranks)), {}, count_};
      where.counts[static_cast<std::size_t>(peer)] = count_;
      return where;
    };
    add(
        "exchange", std::make_shared<exchanged>(apart(), only(right), only(left)),
        [this](int to, auto in, int from, auto out) {
          return comm_.plan_exchange({chorale::to(to, in), chorale::to(chorale::nobody, in)},
                                     {chorale::from(from, out)});
        },
        [this](int to, auto in, int from, auto out) {
          comm_.exchange({chorale::to(to, in)}, {chorale::from(from, out)});
        },
        [right, left](auto call, auto& c) { return call(right, c.in.span(), left, c.out().span()); });
  }

  Comm& comm_;
  std::size_t count_;
  bool in_place_;
  int root_;
  collectives::participant me_;
  std::vector<planned_call> all_;
};

}  // namespace inprocess
