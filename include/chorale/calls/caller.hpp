// SPDX-License-Identifier: Apache-2.0
// What all calls of a communicator share: transport, call queue and argument checks.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <chorale/algorithm/operation_traits.hpp>
#include <chorale/bootstrap/concept.hpp>
#include <chorale/calls/argument_checks.hpp>
#include <chorale/calls/compiled.hpp>
#include <chorale/calls/operands.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/origin.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/core/type_name.hpp>
#include <chorale/core/types.hpp>
#include <chorale/core/uncancellable.hpp>
#include <chorale/request.hpp>
#include <chorale/transport/group/group_view.hpp>
#include <chorale/transport/joining/joining.hpp>

namespace chorale::calls {

/// "allreduce ring, barrier pairwise_exchange; else standard", independent of the order of the policies.
template <class Composition>
std::string describe_composition() {
  std::string text;
  chorale::for_each_operation(operations_with_algorithms{}, [&]<operation What>() {
    using algorithm = typename Composition::template algorithm_of<What>;
    if constexpr (!std::is_same_v<algorithm, typename operation_traits<What>::default_algorithm>)
      text.append(text.empty() ? "" : ", ")
          .append(name(What))
          .append(" ")
          .append(chorale::type_name<algorithm>());
  });
  return text.empty() ? "standard" : text + "; else standard";
}

/// A group that also provides the composition, which all its ranks must have in common.
template <class Group>
class composed_group {
 public:
  composed_group(Group& group, std::string (*text)()) : group_(group), composition_(text) {}

  [[nodiscard]] int rank() { return group_.rank(); }
  [[nodiscard]] int size() { return group_.size(); }
  [[nodiscard]] int local_rank() requires requires(Group& g) { g.local_rank(); } {
    return group_.local_rank();
  }
  [[nodiscard]] bool singleton() { return bootstrap::is_singleton(group_); }
  [[nodiscard]] std::string job() { return group_.job(); }
  [[nodiscard]] std::string describe() { return group_.describe(); }
  [[nodiscard]] std::string composition() const { return composition_(); }
  bootstrap::cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
    return group_.exchange(mine, deadline);
  }

 private:
  Group& group_;
  std::string (*composition_)();
};

/// A checked call; `start(call_id)` makes the task that runs its algorithm.
template <class Start>
struct prepared {
  call what;
  Start start;
};
template <class Start>
prepared(call, Start) -> prepared<Start>;

/// Runs `step`, a preparation for a call that the other ranks are about to make. If it throws, for example
/// for lack of memory, the communicator fails, so that the others do not wait for this rank. An `error`,
/// which refuses an argument, does not fail the communicator.
template <class Net, class Step>
decltype(auto) or_fail(Net& net, const Step& step) {
  try {
    return step();
  } catch (const error&) {
    throw;
  } catch (...) {
    net.fail(std::current_exception());
    throw;
  }
}

/// `argument_checks::uneven_layout`, which needs memory.
template <class Caller>
block_layout uneven_layout(Caller& on, operation call, std::span<const std::size_t> sizes,
                           std::span<const std::size_t> displacements, std::size_t room, std::size_t one,
                           bool written) {
  return calls::or_fail(on.transport(), [&] {
    return on.arguments().uneven_layout(call, sizes, displacements, room, one, written);
  });
}

/// Type-erases `op`, which is moved from, for the elements of a call; a large operator needs memory. Errors
/// in the elements are reported elsewhere.
template <class In, class Out = In, class Caller, class Op, class... Buffers>
named_reduction by(Caller& on, Op& op, const Buffers&... buffers) {
  using Element = argument::element_of<std::conditional_t<argument::is_word<In>, Out, In>>;
  if constexpr (argument::is_elements<Element>) {
    static_assert(
        std::same_as<Op, byte_operator>,
        "chorale: elements whose size is known at run time are combined by a chorale::byte_operator");
    if constexpr (std::same_as<Op, byte_operator>) {
      std::size_t size = 0;
      ((size = argument::bytes_of_one(buffers, size)), ...);
      return calls::or_fail(on.transport(), [&] {
        return named_reduction{reduction::of_bytes(op, size), op.tag()};
      });
    } else {
      return {};
    }
  } else if constexpr (!element<Element>) {
    return {};
  } else {
    if constexpr (argument::is_operator_for<Element, Op>())
      return calls::or_fail(on.transport(), [&] {
        return named_reduction{reduction::of<Element>(std::move(op)), operator_tag<Op>()};
      });
    else
      return {};
  }
}

/// The algorithm of an operation in a caller's composition.
template <operation What, class Caller>
using algorithm_of = typename Caller::template algorithm_of<What>;
/// Starts that algorithm.
template <operation What, class Caller, class... Arguments>
task<> serve(Caller& on, call_id now, const Arguments&... arguments) {
  return calls::launch<What, algorithm_of<What, Caller>>(on.net(), now, arguments...);
}
/// Starts the substitute, the algorithm for calls that the composition's algorithm cannot serve.
template <operation What, class Net, class... Arguments>
task<> substitute(Net& net, call_id now, const Arguments&... arguments) {
  return calls::launch<What, typename operation_traits<What>::substitute>(net, now, arguments...);
}

/// The name, for errors, of the algorithm that serves operation `what` in a composition.
template <class Composition>
std::string algorithm_name(operation what) {
  std::string name;
  chorale::for_each_operation(operations_with_algorithms{}, [&]<operation Served>() {
    if (what == Served || what == operation_traits<Served>::also)
      name = chorale::type_name<typename Composition::template algorithm_of<Served>>();
  });
  return name;
}

/// Makes the calls of a communicator composed of `Composition` (`policies.hpp`). Its address stays the same
/// when its communicator is moved.
template <class Composition>
class caller {
 public:
  using transport_type = typename Composition::transport;
  template <operation What>
  using algorithm_of = typename Composition::template algorithm_of<What>;

  template <class Group>
  caller(Group& group, const config& settings)
      : caller(composed_group<Group>{group, &describe_composition<Composition>}, settings) {}
  explicit caller(transport::joined_group&& group) : caller(group.rank(), group.size(), std::move(group)) {}
  caller(const caller&) = delete;
  caller& operator=(const caller&) = delete;

  /// The text that names the algorithms, which ranks compare when they join.
  [[nodiscard]] static std::string composition() { return calls::describe_composition<Composition>(); }

  [[nodiscard]] int rank() const noexcept { return net_.rank(); }
  [[nodiscard]] int size() const noexcept { return net_.size(); }
  [[nodiscard]] transport_type& transport() noexcept { return net_; }
  [[nodiscard]] const transport_type& transport() const noexcept { return net_; }
  /// The transport as algorithms see it.
  [[nodiscard]] typename Composition::net& net() noexcept { return net_; }

  /// Runs a call to completion.
  template <class Start>
  [[gnu::always_inline]] void run(const prepared<Start>& made) {
    const transport::occupancy::entry inside{net_.core().use(), made.what.what};
    queue_.run(made.what, made.what.signature(), made.start);
  }

  template <class Start>
  request start(const prepared<Start>& made) {
    const transport::occupancy::entry inside{net_.core().use(), made.what.what};
    return request{queue_.start(made.what, made.start)};
  }

  /// The argument checks, whose errors name this communicator.
  [[nodiscard]] const argument_checks& arguments() const noexcept { return arguments_; }
  [[nodiscard]] detail::call_queue& queue() noexcept { return queue_; }
  /// False in a child of fork().
  [[nodiscard]] bool is_here() const noexcept { return made_.is_here(); }

 private:
  template <class Group>
  caller(composed_group<Group> group, const config& settings) try
      : net_(group, settings), queue_(net_.core()), arguments_(made_checks()) {
    net_.core().introduce(transport_type::name, &algorithm_name<Composition>);
  } catch (const error& e) {
    if (!e.ranks().empty()) throw;
    throw transport::set_up_failure(group.rank(), group.size(), e.code(), e.reason());
  }
  caller(int rank, int size, transport::joined_group&& group) try
      : net_(std::move(group)), queue_(net_.core()), arguments_(made_checks()) {
    net_.core().introduce(transport_type::name, &algorithm_name<Composition>);
  } catch (const error& e) {
    if (!e.ranks().empty()) throw;
    throw transport::set_up_failure(rank, size, e.code(), e.reason());
  }

  [[nodiscard]] argument_checks made_checks() const {
    const auto& core = net_.core();
    return {core.rank(), core.size(), core.calls().label(), core.settings().check == check_policy::buffers};
  }

  transport_type net_;
  detail::call_queue queue_;
  argument_checks arguments_;
  detail::origin made_;
};

/// Deleter of a caller. In a child of fork(), the parent's caller is not destroyed. Neither is a caller
/// destroyed from inside one of its own calls, such as by an operator, since that call goes on; the other
/// ranks are told that this rank makes no more calls.
struct caller_deleter {
  template <class Caller>
  void operator()(Caller* on) const noexcept {
    if (!on->is_here()) [[unlikely]]
      return detail::origin::abandon(&on, sizeof on);
    if (on->queue().net().use().is_mine()) [[unlikely]]
      return on->queue().net().failures().abandon();
    const detail::uncancellable ends_first;
    delete on;
  }
};

/// Throws the error of every call on a communicator that was moved from.
[[noreturn]] inline void refuse_moved_from() {
  throw error(errc::misuse, "this communicator was moved from: it has no ranks any more");
}

}  // namespace chorale::calls
