// SPDX-License-Identifier: Apache-2.0
// Calls with strided operands, made through memory in which the elements are contiguous.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <chorale/algorithm/scratch.hpp>
#include <chorale/calls/allgather.hpp>
#include <chorale/calls/alltoall.hpp>
#include <chorale/calls/broadcast.hpp>
#include <chorale/calls/gather.hpp>
#include <chorale/calls/operands.hpp>
#include <chorale/calls/reduce.hpp>
#include <chorale/calls/reduce_scatter.hpp>
#include <chorale/calls/scan.hpp>
#include <chorale/calls/scatter.hpp>

namespace chorale::calls {

/// What a call does with its operands on this rank.
struct operand_use {
  bool reads = true;   ///< the input
  bool keeps = false;  ///< parts of the output must be preserved, or are also input
  bool writes = true;  ///< the output
};

/// Operands with strides, and temporary memory for their packed elements. An operand whose strides make it
/// contiguous is used as it is.
template <class Net>
class packed_operands {
 public:
  packed_operands(Net& net, const strided_operands& io, operand_use use)
      : io_(io), use_(use), packed_(io.all) {
    if (!use_.reads || io.in_where.is_contiguous()) use_.reads = false;
    if (io.out_where.is_contiguous()) use_.keeps = use_.writes = false;
    if (use_.reads) {
      in_.emplace(chorale::scratch_of(net, io.all.in.bytes.size()));
      packed_.in.bytes = in_->memory();
    }
    if (use_.keeps || use_.writes) {
      out_.emplace(chorale::scratch_of(net, io.all.out.bytes.size()));
      packed_.out.bytes = out_->memory();
    }
  }

  /// The operands of the call: contiguous.
  [[nodiscard]] const operands& contiguous() const noexcept { return packed_; }
  void pack() const noexcept {
    if (use_.reads) io_.in_where.pack(io_.all.in.bytes.data(), 0, in_->memory());
    if (use_.keeps) io_.out_where.pack(io_.all.out.bytes.data(), 0, out_->memory());
  }
  void unpack() const noexcept {
    if (use_.writes) io_.out_where.unpack(io_.all.out.bytes.data(), 0, out_->memory());
  }

 private:
  using memory = decltype(chorale::scratch_of(std::declval<Net&>(), std::size_t{}));

  strided_operands io_;
  operand_use use_;
  operands packed_;
  std::optional<memory> in_;
  std::optional<memory> out_;
};

/// Runs a call between packing and unpacking. An output does not change if the call fails.
template <class Start, class Memory>
task<> run_packed(Start start, std::shared_ptr<const Memory> memory, call_id now) {
  memory->pack();
  co_await start(now);
  memory->unpack();
}

/// The call that `prepare(operands)` makes, with operands that have strides.
template <class Caller, class Prepare>
auto through_packed(Caller& on, const strided_operands& io, operand_use use, const Prepare& prepare) {
  using packed = packed_operands<std::remove_reference_t<decltype(on.net())>>;
  auto memory =
      calls::or_fail(on.transport(), [&] { return std::make_shared<const packed>(on.net(), io, use); });
  auto made = prepare(memory->contiguous());
  if (use.reads) on.arguments().check_memory(made.what.what, calls::all_memory(io.all.in, io.in_where));
  if (use.keeps || use.writes)
    on.arguments().check_memory(made.what.what, calls::all_memory(io.all.out, io.out_where));
  return prepared{made.what, [start = std::move(made.start), memory = std::move(memory)](call_id now) {
                    return calls::run_packed(start, memory, now);
                  }};
}

template <class Caller>
auto broadcast(Caller& on, const strided_operands& io, int root) {
  const bool sends = on.rank() == root;
  return calls::through_packed(on, io, {.reads = false, .keeps = sends, .writes = !sends},
                               [&](const operands& all) { return calls::broadcast(on, all.out, root); });
}

template <class Caller>
auto reduce(Caller& on, const strided_operands& io, named_reduction with, int root) {
  return calls::through_packed(
      on, io, {.reads = true, .keeps = io.all.in.is_in_place, .writes = on.rank() == root},
      [&](const operands& all) { return calls::reduce(on, all, std::move(with), root); });
}

template <class Caller>
auto allreduce(Caller& on, const strided_operands& io, named_reduction with) {
  return calls::through_packed(on, io, {.keeps = io.all.in.is_in_place}, [&](const operands& all) {
    return calls::allreduce(on, all, std::move(with));
  });
}

template <class Caller>
auto scan(Caller& on, const strided_operands& io, named_reduction with) {
  return calls::through_packed(on, io, {.keeps = io.all.in.is_in_place},
                               [&](const operands& all) { return calls::scan(on, all, std::move(with)); });
}

template <class Caller>
auto exscan(Caller& on, const strided_operands& io, initial_bytes first, named_reduction with) {
  return calls::through_packed(on, io, {.keeps = io.all.in.is_in_place}, [&](const operands& all) {
    return calls::exscan(on, all, std::move(first), std::move(with));
  });
}

/// In place, the blocks of `out` other than this rank's do not change.
template <class Caller>
auto reduce_scatter(Caller& on, const strided_operands& io, named_reduction with) {
  return calls::through_packed(on, io, {.keeps = io.all.in.is_in_place}, [&](const operands& all) {
    return calls::reduce_scatter(on, all, std::move(with));
  });
}
template <class Caller>
auto reduce_scatter(Caller& on, const strided_operands& io, std::span<const std::size_t> sizes,
                    named_reduction with) {
  return calls::through_packed(on, io, {.keeps = io.all.in.is_in_place}, [&](const operands& all) {
    return calls::reduce_scatter(on, all, sizes, std::move(with));
  });
}

template <class Caller>
auto allgather(Caller& on, const strided_operands& io) {
  return calls::through_packed(on, io, {.keeps = io.all.in.is_in_place},
                               [&](const operands& all) { return calls::allgather(on, all); });
}

// If blocks may have gaps between them, the call preserves what the output has there.

template <class Caller>
auto allgatherv(Caller& on, const strided_operands& io, std::span<const std::size_t> sizes,
                std::span<const std::size_t> displacements) {
  return calls::through_packed(on, io, {.keeps = true}, [&](const operands& all) {
    return calls::allgatherv(on, all, sizes, displacements);
  });
}

template <class Caller>
auto alltoall(Caller& on, const strided_operands& io) {
  return calls::through_packed(on, io, {.keeps = io.all.in.is_in_place},
                               [&](const operands& all) { return calls::alltoall(on, all); });
}

template <class Caller>
auto alltoallv(Caller& on, const strided_operands& io, uneven_blocks sent, uneven_blocks taken) {
  return calls::through_packed(on, io, {.keeps = true},
                               [&](const operands& all) { return calls::alltoallv(on, all, sent, taken); });
}

template <class Caller>
auto gather(Caller& on, const strided_operands& io, int root) {
  const bool takes = on.rank() == root;
  return calls::through_packed(on, io, {.keeps = takes && io.all.in.is_in_place, .writes = takes},
                               [&](const operands& all) { return calls::gather(on, all, root); });
}

template <class Caller>
auto gatherv(Caller& on, const strided_operands& io, std::span<const std::size_t> sizes, int root,
             std::span<const std::size_t> displacements) {
  const bool takes = on.rank() == root;
  return calls::through_packed(on, io, {.keeps = takes, .writes = takes}, [&](const operands& all) {
    return calls::gatherv(on, all, sizes, root, displacements);
  });
}

template <class Caller>
auto scatter(Caller& on, const strided_operands& io, int root) {
  return calls::through_packed(on, io, {.reads = on.rank() == root},
                               [&](const operands& all) { return calls::scatter(on, all, root); });
}

template <class Caller>
auto scatterv(Caller& on, const strided_operands& io, std::span<const std::size_t> sizes, int root,
              std::span<const std::size_t> displacements) {
  return calls::through_packed(on, io, {.reads = on.rank() == root}, [&](const operands& all) {
    return calls::scatterv(on, all, sizes, root, displacements);
  });
}

}  // namespace chorale::calls
