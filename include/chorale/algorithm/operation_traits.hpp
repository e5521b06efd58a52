// SPDX-License-Identifier: Apache-2.0
// The properties of each operation.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

#include <chorale/core/blocks.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/neighbours.hpp>
#include <chorale/core/reduction.hpp>

namespace chorale {

namespace barrier {
struct standard;
}
namespace broadcast {
struct standard;
}
namespace reduce {
struct standard;
struct rank_by_rank;
}  // namespace reduce
namespace allreduce {
struct standard;
struct rank_by_rank;
}  // namespace allreduce
namespace allgather {
struct standard;
struct ring;
struct bruck;
struct direct;
}  // namespace allgather
namespace alltoall {
struct standard;
struct pairwise;
}  // namespace alltoall
namespace gather {
struct standard;
struct by_place;
}  // namespace gather
namespace scatter {
struct standard;
struct by_place;
}  // namespace scatter
namespace reduce_scatter {
struct standard;
struct rank_by_rank;
}  // namespace reduce_scatter
namespace scan {
struct standard;
}
namespace exchange {
struct direct;
}

/// The parameters of an algorithm's `run` after `(Net& net, call_id now)`, each by value, since a coroutine
/// outlives the call's arguments.
template <class... Arguments>
struct run_arguments {};

/// A list of types, or of operations.
template <class... Types>
struct type_list {
  static constexpr std::size_t size = sizeof...(Types);  ///< How many.
};
template <operation... Operations>
struct operation_list {};  ///< A list of operations.

/// An operation that algorithms implement:
///
/// * `arguments`: the parameters of `run`.
/// * `in_place_arguments`, optional: alternative parameters of `run`, for algorithms whose operand is in the
///   result buffer already (`start.hpp`).
/// * `default_algorithm`: used if the program chooses none.
/// * `substitute`: the algorithm for calls that the communicator's algorithm cannot serve, with uneven blocks
///   or with elements larger than a block of the transport; void if every algorithm serves all calls.
/// * `also`: another operation that the same algorithms serve, such as the one with uneven blocks, or `none`.
/// * `is_rooted`: calls have a root.
/// * `is_reduction`: calls have an operator.
///
/// The signature of a call covers its operation, root, operator and element type, and its size in bytes if
/// this is the same on all ranks.
template <operation What>
struct operation_traits;

/// No arguments.
template <>
struct operation_traits<operation::barrier> {
  using arguments = run_arguments<>;
  using default_algorithm = barrier::standard;
  using substitute = void;
  static constexpr operation also = operation::none;
  static constexpr bool is_rooted = false;
  static constexpr bool is_reduction = false;
};

/// `data`, of `root`.
template <>
struct operation_traits<operation::broadcast> {
  using arguments = run_arguments<std::span<std::byte>, int>;
  using default_algorithm = broadcast::standard;
  using substitute = void;
  static constexpr operation also = operation::none;
  static constexpr bool is_rooted = true;
  static constexpr bool is_reduction = false;
};

/// `in`; `out`, at the root only; operator; root.
template <>
struct operation_traits<operation::reduce> {
  using arguments = run_arguments<std::span<const std::byte>, std::span<std::byte>, reduction, int>;
  using default_algorithm = reduce::standard;
  using substitute = reduce::rank_by_rank;
  static constexpr operation also = operation::none;
  static constexpr bool is_rooted = true;
  static constexpr bool is_reduction = true;
};

/// `in`; `out`, which may be `in`; operator. Or, in place, `data` for both.
template <>
struct operation_traits<operation::allreduce> {
  using arguments = run_arguments<std::span<const std::byte>, std::span<std::byte>, reduction>;
  using in_place_arguments = run_arguments<std::span<std::byte>, reduction>;
  using default_algorithm = allreduce::standard;
  using substitute = allreduce::rank_by_rank;
  static constexpr operation also = operation::none;
  static constexpr bool is_rooted = false;
  static constexpr bool is_reduction = true;
};

/// `all`, which already contains this rank's own block.
template <>
struct operation_traits<operation::allgather> {
  using arguments = run_arguments<blocks<std::byte>>;
  using default_algorithm = allgather::standard;
  using substitute = allgather::ring;
  /// An algorithm that may run several times within a call. It uses no signals, which are told apart only by
  /// their call and its phase.
  using repeatable = allgather::bruck;
  /// An algorithm in which every rank exchanges messages with every other, so that all are connected
  /// afterwards.
  using connecting = allgather::direct;
  static constexpr operation also = operation::allgatherv;
  static constexpr bool is_rooted = false;
  static constexpr bool is_reduction = false;
};

/// `in`; `out`, into which the algorithm copies this rank's own block (`place_own`).
template <>
struct operation_traits<operation::alltoall> {
  using arguments = run_arguments<blocks<const std::byte>, blocks<std::byte>>;
  using default_algorithm = alltoall::standard;
  using substitute = alltoall::pairwise;
  static constexpr operation also = operation::alltoallv;
  static constexpr bool is_rooted = false;
  static constexpr bool is_reduction = false;
};

/// `mine`; `all`, at the root only, where the algorithm places its own block (`place_own`); root.
template <>
struct operation_traits<operation::gather> {
  using arguments = run_arguments<std::span<const std::byte>, blocks<std::byte>, int>;
  using default_algorithm = gather::standard;
  using substitute = gather::by_place;
  static constexpr operation also = operation::gatherv;
  static constexpr bool is_rooted = true;
  static constexpr bool is_reduction = false;
};

/// `all`, at the root only; `mine`, which the algorithm fills at the root, too (`place_own`); root.
template <>
struct operation_traits<operation::scatter> {
  using arguments = run_arguments<blocks<const std::byte>, std::span<std::byte>, int>;
  using default_algorithm = scatter::standard;
  using substitute = scatter::by_place;
  static constexpr operation also = operation::scatterv;
  static constexpr bool is_rooted = true;
  static constexpr bool is_reduction = false;
};

/// `in`; `out`; operator.
template <>
struct operation_traits<operation::reduce_scatter> {
  using arguments = run_arguments<blocks<const std::byte>, std::span<std::byte>, reduction>;
  using default_algorithm = reduce_scatter::standard;
  using substitute = reduce_scatter::rank_by_rank;
  static constexpr operation also = operation::none;
  static constexpr bool is_rooted = false;
  static constexpr bool is_reduction = true;
};

/// `in`; `out`, which may be `in`; operator; whether it is inclusive. Or, in place, `data` for both.
template <>
struct operation_traits<operation::scan> {
  using arguments = run_arguments<std::span<const std::byte>, std::span<std::byte>, reduction, bool>;
  using in_place_arguments = run_arguments<std::span<std::byte>, reduction, bool>;
  using default_algorithm = scan::standard;
  using substitute = void;
  static constexpr operation also = operation::exscan;
  static constexpr bool is_rooted = false;
  static constexpr bool is_reduction = true;
};

/// The messages that this rank sends; the messages it takes. The lists stay valid until the call is over.
template <>
struct operation_traits<operation::exchange> {
  using arguments = run_arguments<std::span<const outgoing>, std::span<const incoming>>;
  using default_algorithm = exchange::direct;
  using substitute = void;
  static constexpr operation also = operation::none;
  static constexpr bool is_rooted = false;
  static constexpr bool is_reduction = false;
};

/// All operations with traits.
using operations_with_algorithms =
    operation_list<operation::barrier, operation::broadcast, operation::reduce, operation::allreduce,
                   operation::allgather, operation::alltoall, operation::gather, operation::scatter,
                   operation::reduce_scatter, operation::scan, operation::exchange>;

/// Calls `use.template operator()<What>()` for each operation of a list.
template <operation... Operations, class Use>
constexpr void for_each_operation(operation_list<Operations...>, Use&& use) {
  (use.template operator()<Operations>(), ...);
}

/// An algorithm policy: says which operation it implements and on which transports it runs.
template <class Algorithm>
concept algorithm_policy = requires {
  { Algorithm::implements } -> std::convertible_to<operation>;
  { Algorithm::template runs_on<int> } -> std::convertible_to<bool>;
};

}  // namespace chorale
