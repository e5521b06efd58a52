// allgather, allgatherv and their nonblocking forms.
#pragma once

#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/calls/caller.hpp>

namespace chorale::calls {

template <class Base, class Algorithm>
class allgather_calls : public Base {
 public:
  using Base::Base;
  using allgather_algorithm = Algorithm;

  /// out[r * n + i] = in[i] of rank r, on every rank; n = in.size() is the same everywhere, out.size() is n
  /// times the number of ranks. `in` may be this rank's block of `out`, else they do not overlap.
  template <element T, std::size_t N, std::size_t M>
  void allgather(std::span<const T, N> in, std::span<T, M> out) {
    const auto all = place<T>(in, out);
    this->run(identify<T>(operation::allgather, in.size_bytes()), begin(all));
  }
  template <element T, std::size_t N, std::size_t M>
  request iallgather(std::span<const T, N> in, std::span<T, M> out) {
    const auto all = place<T>(in, out);
    return this->start(identify<T>(operation::allgather, in.size_bytes()), begin(all));
  }
  /// The same in place: this rank's block is in `all` already.
  template <element T, std::size_t M>
  void allgather(std::span<T, M> all) {
    const auto ranks = static_cast<std::size_t>(this->size());
    if (all.size() % ranks != 0)
      this->reject("allgather", std::to_string(all.size()) + " elements are not one block for each of " +
                                    std::to_string(ranks) + " ranks");
    const std::size_t n = all.size() / ranks;
    allgather(std::span<const T>{all.subspan(static_cast<std::size_t>(this->rank()) * n, n)},
              std::span<T>{all});
  }

  /// The block of rank r has counts[r] elements, at displacements[r] of `out`, or behind that of rank r - 1
  /// if there are no displacements. `counts` are the same on all ranks, displacements need not be; blocks
  /// must not overlap.
  template <element T, std::size_t N, std::size_t M>
  void allgatherv(std::span<const T, N> in, std::span<T, M> out, std::span<const std::size_t> counts,
                  std::span<const std::size_t> displacements = {}) {
    const auto all = place_uneven<T>(in, out, counts, displacements);
    this->run(identify_uneven<T>(all.layout()), begin(all));
  }
  template <element T, std::size_t N, std::size_t M>
  request iallgatherv(std::span<const T, N> in, std::span<T, M> out, std::span<const std::size_t> counts,
                      std::span<const std::size_t> displacements = {}) {
    const auto all = place_uneven<T>(in, out, counts, displacements);
    return this->start(identify_uneven<T>(all.layout()), begin(all));
  }

 private:
  template <class T>
  static call identify(operation what, std::size_t bytes) {
    return {.what = what, .bytes = bytes, .type = type_tag<T>()};
  }
  template <class T>
  static call identify_uneven(const block_layout& layout) {
    return {.what = operation::allgatherv,
            .bytes = layout.total(),
            .counts = layout.counts(),
            .type = type_tag<T>()};
  }
  template <class T>
  blocks<std::byte> place(std::span<const T> in, std::span<T> out) const {
    this->check_sizes("allgather", in.size() * static_cast<std::size_t>(this->size()), out.size());
    const blocks<std::byte> all{std::as_writable_bytes(out),
                                block_layout::even(this->size(), in.size_bytes())};
    this->copy(std::as_bytes(in), all[this->rank()]);
    return all;
  }
  template <class T>
  blocks<std::byte> place_uneven(std::span<const T> in, std::span<T> out, std::span<const std::size_t> counts,
                                 std::span<const std::size_t> displacements) const {
    const blocks<std::byte> all{
        std::as_writable_bytes(out),
        this->template uneven_layout<T>("allgatherv", counts, displacements, out.size())};
    this->check_sizes("allgatherv", counts[static_cast<std::size_t>(this->rank())], in.size());
    this->copy(std::as_bytes(in), all[this->rank()]);
    return all;
  }
  auto begin(blocks<std::byte> all) {
    return [this, all = std::move(all)](epoch now) {
      if constexpr (!Algorithm::uneven) {
        if (!all.layout().is_even()) return launch<allgather::ring>(this->net(), now, all);
      }
      return launch<Algorithm>(this->net(), now, all);
    };
  }
};

}  // namespace chorale::calls
