// reduce, allreduce and their nonblocking forms.
#pragma once

#include <type_traits>

#include <chorale/algorithm/allreduce/rank_by_rank.hpp>
#include <chorale/calls/by_rank.hpp>
#include <chorale/calls/caller.hpp>

namespace chorale::calls {

template <class Op, class T>
call identify_reduction(operation what, std::size_t bytes, int root = -1) {
  return {.what = what, .root = root, .bytes = bytes, .type = type_tag<T>(), .reduction = operator_tag<Op>()};
}

template <class Base, class Algorithm>
class allreduce_calls : public Base {
 public:
  using Base::Base;
  using allreduce_algorithm = Algorithm;

  /// data[i] = op over all ranks' data[i], on every rank and to the same bits; in the order that the
  /// algorithm documents, which is that of the ranks if the operator does not commute. In place.
  template <element T, std::size_t N, class Op = sum_t>
  requires reduction_operator<Op, T>
  void allreduce(std::span<T, N> data, Op op = {}) {
    this->run(identify_reduction<Op, T>(operation::allreduce, data.size_bytes()),
              begin(std::as_writable_bytes(data), reduction::of<T>(std::move(op))));
  }
  template <element T, std::size_t N, class Op = sum_t>
  requires reduction_operator<Op, T> request iallreduce(std::span<T, N> data, Op op = {}) {
    return this->start(identify_reduction<Op, T>(operation::allreduce, data.size_bytes()),
                       begin(std::as_writable_bytes(data), reduction::of<T>(std::move(op))));
  }
  /// The same with separate buffers of equal size, which do not overlap unless they are the same.
  template <element T, std::size_t N, std::size_t M, class Op = sum_t>
  requires reduction_operator<Op, T>
  void allreduce(std::span<const T, N> in, std::span<T, M> out, Op op = {}) {
    this->check_sizes("allreduce", in.size(), out.size());
    this->copy(std::as_bytes(in), std::as_writable_bytes(out));
    allreduce(out, std::move(op));
  }
  template <element T, class Op = sum_t>
  requires(reduction_operator<Op, T> && !std::is_const_v<T>) [[nodiscard]] T allreduce(T value, Op op = {}) {
    allreduce(std::span{&value, 1}, std::move(op));
    return value;
  }

 private:
  auto begin(std::span<std::byte> data, reduction op) {
    return [this, data, op = std::move(op)](epoch now) {
      if (op.element_bytes() > this->net_.block_bytes())
        return launch<allreduce::rank_by_rank>(this->net(), now, data, op);
      return launch<Algorithm>(this->net(), now, data, op);
    };
  }
};

template <class Base, class Algorithm>
class reduce_calls : public Base {
 public:
  using Base::Base;
  using reduce_algorithm = Algorithm;

  /// out[i] = op over all ranks' in[i], at rank `root`, in the order that the algorithm documents; elsewhere
  /// `out` is not touched and may be empty. `in` and `out` may be the same.
  template <element T, std::size_t N, std::size_t M, class Op = sum_t>
  requires reduction_operator<Op, T>
  void reduce(std::span<const T, N> in, std::span<T, M> out, Op op = {}, int root = 0) {
    this->run(identify<Op, T>(in, out, root), begin<T>(in, out, std::move(op), root));
  }
  template <element T, std::size_t N, std::size_t M, class Op = sum_t>
  requires reduction_operator<Op, T> request ireduce(std::span<const T, N> in, std::span<T, M> out,
                                                     Op op = {}, int root = 0) {
    return this->start(identify<Op, T>(in, out, root), begin<T>(in, out, std::move(op), root));
  }

 private:
  template <class Op, class T>
  call identify(std::span<const T> in, std::span<T> out, int root) const {
    this->check_root("reduce", root);
    if (this->rank() == root) this->check_sizes("reduce", in.size(), out.size());
    return identify_reduction<Op, T>(operation::reduce, in.size_bytes(), root);
  }
  template <class T, class Op>
  auto begin(std::span<const T> in, std::span<T> out, Op op, int root) {
    return [this, in = std::as_bytes(in), out = std::as_writable_bytes(out),
            op = reduction::of<T>(std::move(op)), root](epoch now) {
      if (op.element_bytes() > this->net_.block_bytes())
        return launch<reduce_by_rank>(this->net(), now, in, out, op, root);
      return launch<Algorithm>(this->net(), now, in, out, op, root);
    };
  }
};

}  // namespace chorale::calls
