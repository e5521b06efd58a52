// One collective call and the comparison of its result with a serial computation.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <chorale/communicator.hpp>

#include "exchange_checks.hpp"
#include "guarded_buffer.hpp"
#include "manner.hpp"
#include "operands.hpp"
#include "rooted_checks.hpp"
#include "scan_checks.hpp"

namespace collectives {

template <class T, class Comm>
void check_broadcast(Comm& comm, std::size_t count, int root, std::uint64_t seed, const manner& m = {}) {
  guarded_buffer<T> data{count, m.misalignment};
  const auto at_root = [&](std::size_t i) { return operand<T>(seed, root, i); };
  data.fill_with(
      [&](std::size_t i) { return operand<T>(seed + (comm.rank() == root ? 0 : 1), comm.rank(), i); });
  if (m.nonblocking)
    await(comm.ibroadcast(data.span(), root));
  else
    comm.broadcast(data.span(), root);
  data.check(describe<T>("broadcast", count, comm.rank(), m, root), at_root);
}

template <class T, class Op, class Comm>
void check_reduce(Comm& comm, std::size_t count, int root, Op op, std::uint64_t seed, const manner& m = {}) {
  const std::string what = describe<T>("reduce", count, comm.rank(), m, root);
  guarded_buffer<T> in{count, m.misalignment};
  const auto mine = [&](std::size_t i) { return operand<T, Op>(seed, comm.rank(), i); };
  in.fill_with(mine);
  guarded_buffer<T> separate{count, m.misalignment + 1};
  const bool is_root = comm.rank() == root;
  // Except at the root, `out` is not used, and may have any size.
  std::span<T> out = m.in_place ? in.span() : separate.span();
  if (!is_root && seed % 2 == 0) out = {};
  if (m.nonblocking)
    await(comm.ireduce(std::span<const T>{in.span()}, out, op, root));
  else
    comm.reduce(std::span<const T>{in.span()}, out, op, root);
  const auto result = [&](std::size_t i) { return expected_reduction<T>(seed, comm.size(), i, op); };
  if (is_root) {
    (m.in_place ? in : separate).check(what, result);
    if (!m.in_place) in.check(what + ": operand", mine);
  } else {
    in.check(what + ": operand", mine);
    separate.check_untouched(what + ": out");
  }
}

template <class T, class Op, class Comm>
void check_allreduce(Comm& comm, std::size_t count, Op op, std::uint64_t seed, const manner& m = {}) {
  const std::string what = describe<T>("allreduce", count, comm.rank(), m);
  guarded_buffer<T> data{count, m.misalignment};
  const auto mine = [&](std::size_t i) { return operand<T, Op>(seed, comm.rank(), i); };
  const auto result = [&](std::size_t i) { return expected_reduction<T>(seed, comm.size(), i, op); };
  data.fill_with(mine);
  if (m.nonblocking) {
    await(comm.iallreduce(data.span(), op));
    data.check(what, result);
  } else if (m.in_place) {
    comm.allreduce(data.span(), op);
    data.check(what, result);
  } else {
    guarded_buffer<T> out{count, m.misalignment + 1};
    comm.allreduce(std::span<const T>{data.span()}, out.span(), op);
    out.check(what, result);
    data.check(what + ": operand", mine);
  }
}

/// No rank leaves before all have entered: the latest entry is not after the earliest exit. The ranks share a
/// clock, since they are on one host.
template <class Comm>
void check_barrier(Comm& comm, const manner& m = {}) {
  const auto now = [] { return chorale::clock::now().time_since_epoch().count(); };
  const auto came = now();
  if (m.nonblocking)
    await(comm.ibarrier());
  else
    comm.barrier();
  const auto left = now();
  const auto last = comm.allreduce(came, chorale::max);
  if (last > left)
    throw wrong("barrier" + describe(m) + ": rank " + std::to_string(comm.rank()) + " left " +
                std::to_string(last - left) + " ns before the last rank came");
}

}  // namespace collectives
