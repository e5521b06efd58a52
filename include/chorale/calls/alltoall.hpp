// alltoall, alltoallv and their nonblocking forms.
#pragma once

#include <chorale/algorithm/alltoall/pairwise.hpp>
#include <chorale/calls/caller.hpp>

namespace chorale::calls {

template <class Base, class Algorithm>
class alltoall_calls : public Base {
 public:
  using Base::Base;
  using alltoall_algorithm = Algorithm;

  /// Block r of `in` comes to block `rank()` of `out` at rank r. Both have the same number of elements, one
  /// block for each rank, and do not overlap.
  template <element T, std::size_t N, std::size_t M>
  void alltoall(std::span<const T, N> in, std::span<T, M> out) {
    this->run(identify<T>(in, out), begin<T>(in, out));
  }
  template <element T, std::size_t N, std::size_t M>
  request ialltoall(std::span<const T, N> in, std::span<T, M> out) {
    return this->start(identify<T>(in, out), begin<T>(in, out));
  }

  /// Sends send_counts[r] elements to rank r and gets receive_counts[r] from it, which must be what that rank
  /// sends here. Displacements as in `allgatherv`.
  template <element T, std::size_t N, std::size_t M>
  void alltoallv(std::span<const T, N> in, std::span<const std::size_t> send_counts, std::span<T, M> out,
                 std::span<const std::size_t> receive_counts,
                 std::span<const std::size_t> send_displacements = {},
                 std::span<const std::size_t> receive_displacements = {}) {
    this->run(identify_uneven<T>(), begin_uneven<T>(in, send_counts, out, receive_counts, send_displacements,
                                                    receive_displacements));
  }
  template <element T, std::size_t N, std::size_t M>
  request ialltoallv(std::span<const T, N> in, std::span<const std::size_t> send_counts, std::span<T, M> out,
                     std::span<const std::size_t> receive_counts,
                     std::span<const std::size_t> send_displacements = {},
                     std::span<const std::size_t> receive_displacements = {}) {
    return this->start(identify_uneven<T>(), begin_uneven<T>(in, send_counts, out, receive_counts,
                                                             send_displacements, receive_displacements));
  }

 private:
  template <class T>
  call identify(std::span<const T> in, std::span<T> out) const {
    this->check_sizes("alltoall", in.size(), out.size());
    if (in.size() % static_cast<std::size_t>(this->size()) != 0)
      this->reject("alltoall", std::to_string(in.size()) + " elements are not one block for each of " +
                                   std::to_string(this->size()) + " ranks");
    return {.what = operation::alltoall, .bytes = in.size_bytes(), .type = type_tag<T>()};
  }
  template <class T>
  static call identify_uneven() {
    return {.what = operation::alltoallv, .type = type_tag<T>()};
  }
  template <class T>
  auto begin(std::span<const T> in, std::span<T> out) {
    const auto layout =
        block_layout::even(this->size(), in.size_bytes() / static_cast<std::size_t>(this->size()));
    return begin_blocks({std::as_bytes(in), layout}, {std::as_writable_bytes(out), layout});
  }
  template <class T>
  auto begin_uneven(std::span<const T> in, std::span<const std::size_t> send_counts, std::span<T> out,
                    std::span<const std::size_t> receive_counts,
                    std::span<const std::size_t> send_displacements,
                    std::span<const std::size_t> receive_displacements) {
    const auto rank = static_cast<std::size_t>(this->rank());
    const auto from =
        this->template uneven_layout<T>("alltoallv", send_counts, send_displacements, in.size());
    const auto to =
        this->template uneven_layout<T>("alltoallv", receive_counts, receive_displacements, out.size());
    this->check_sizes("alltoallv: block of this rank", send_counts[rank], receive_counts[rank]);
    return begin_blocks({std::as_bytes(in), from}, {std::as_writable_bytes(out), to});
  }
  auto begin_blocks(blocks<const std::byte> in, blocks<std::byte> out) {
    this->copy(in[this->rank()], out[this->rank()]);
    return [this, in = std::move(in), out = std::move(out)](epoch now) {
      if constexpr (!Algorithm::uneven) {
        if (!in.layout().is_even()) return launch<alltoall::pairwise>(this->net(), now, in, out);
      }
      return launch<Algorithm>(this->net(), now, in, out);
    };
  }
};

}  // namespace chorale::calls
