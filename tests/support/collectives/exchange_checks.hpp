// Allgather, alltoall and their variants, compared with the known operands of each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "guarded_buffer.hpp"
#include "manner.hpp"
#include "placement.hpp"

namespace collectives {

namespace detail {

template <class T, class Comm>
void check_allgather_of(Comm& comm, const char* name, const placement& where, std::size_t most,
                        bool even_call, std::uint64_t seed, const manner& m) {
  const std::string what = describe<T>(name, most, comm.rank(), m);
  const auto value = [&](int block, std::size_t i) { return operand<T>(seed, block, i); };
  const auto gap = [&](std::size_t i) { return gap_value<T>(seed, i); };
  const auto mine = [&](std::size_t i) { return value(comm.rank(), i); };
  guarded_buffer<T> all{where.room, m.misalignment};
  guarded_buffer<T> separate{where.count(comm.rank()), m.misalignment + 1};
  all.fill_with(gap);
  separate.fill_with(mine);
  std::span<const T> in = separate.span();
  if (m.in_place) {
    const auto first = where.first(comm.rank());
    for (std::size_t i = 0; i < where.count(comm.rank()); ++i) all.set(first + i, mine(i));
    in = all.span().subspan(first, where.count(comm.rank()));
  }
  if (even_call) {
    if (m.nonblocking)
      await(comm.iallgather(in, all.span()));
    else if (m.in_place)
      comm.allgather(chorale::in_place, all.span());
    else
      comm.allgather(in, all.span());
  } else {
    const std::span<const std::size_t> counts{where.counts};
    const std::span<const std::size_t> places{where.displacements};
    if (m.nonblocking)
      await(comm.iallgatherv(in, all.span(), counts, places));
    else
      comm.allgatherv(in, all.span(), counts, places);
  }
  const auto image = where.template image<T>(value, gap);
  all.check(what, [&](std::size_t i) { return image[i]; });
  separate.check(what + ": operand", mine);
}

}  // namespace detail

/// `count` elements from each rank.
template <class T, class Comm>
void check_allgather(Comm& comm, std::size_t count, std::uint64_t seed, const manner& m = {}) {
  detail::check_allgather_of<T>(comm, "allgather", even(comm.size(), count), count, true, seed, m);
}
/// Up to `most` elements from each rank, with gaps that must stay unchanged.
template <class T, class Comm>
void check_allgatherv(Comm& comm, std::size_t most, std::uint64_t seed, const manner& m = {}) {
  detail::check_allgather_of<T>(comm, "allgatherv", uneven(comm.size(), most, seed, comm.rank()), most, false,
                                seed, m);
}

namespace detail {

/// Element i of the block from rank `from` to rank `to`.
template <class T>
T letter(std::uint64_t seed, int from, int to, std::size_t i) {
  return operand<T>(seed + mixed(static_cast<std::uint64_t>(to)), from, i);
}

template <class T, class Comm, class Call>
void check_alltoall_of(Comm& comm, const char* name, const placement& source, const placement& target,
                       std::size_t most, std::uint64_t seed, const manner& m, Call&& call) {
  const std::string what = describe<T>(name, most, comm.rank(), m);
  const auto gap = [&](std::size_t i) { return gap_value<T>(seed, i); };
  const auto given = source.template image<T>(
      [&](int to, std::size_t i) { return letter<T>(seed, comm.rank(), to, i); }, gap);
  const auto taken = target.template image<T>(
      [&](int from, std::size_t i) { return letter<T>(seed, from, comm.rank(), i); }, gap);
  guarded_buffer<T> in{source.room, m.misalignment};
  guarded_buffer<T> out{target.room, m.misalignment + 3};
  in.fill_with([&](std::size_t i) { return given[i]; });
  out.fill_with(gap);
  call(std::span<const T>{in.span()}, out.span());
  out.check(what, [&](std::size_t i) { return taken[i]; });
  in.check(what + ": operand", [&](std::size_t i) { return given[i]; });
}

}  // namespace detail

/// `count` elements from each rank to each.
template <class T, class Comm>
void check_alltoall(Comm& comm, std::size_t count, std::uint64_t seed, const manner& m = {}) {
  const auto where = even(comm.size(), count);
  detail::check_alltoall_of<T>(comm, "alltoall", where, where, count, seed, m, [&](auto in, auto out) {
    if (m.nonblocking)
      await(comm.ialltoall(in, out));
    else
      comm.alltoall(in, out);
  });
}
/// Up to `most` elements from each rank to each, with gaps on both sides.
template <class T, class Comm>
void check_alltoallv(Comm& comm, std::size_t most, std::uint64_t seed, const manner& m = {}) {
  const int ranks = comm.size();
  std::vector<std::size_t> sent, received;
  for (int r = 0; r < ranks; ++r) {
    sent.push_back(uneven_count(seed, comm.rank() * ranks + r, most));
    received.push_back(uneven_count(seed, r * ranks + comm.rank(), most));
  }
  const auto own = seed + static_cast<std::uint64_t>(comm.rank());
  const auto source = placed(std::move(sent), own);
  const auto target = placed(std::move(received), own + 1000);
  detail::check_alltoall_of<T>(comm, "alltoallv", source, target, most, seed, m, [&](auto in, auto out) {
    const std::span<const std::size_t> given{source.counts}, taken{target.counts};
    const std::span<const std::size_t> from{source.displacements}, to{target.displacements};
    if (m.nonblocking)
      await(comm.ialltoallv(in, given, out, taken, from, to));
    else
      comm.alltoallv(in, given, out, taken, from, to);
  });
}

}  // namespace collectives
