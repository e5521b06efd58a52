// reduce_scatter, scan, exscan and their nonblocking forms.
#pragma once

#include <chorale/calls/reduce.hpp>

namespace chorale::calls {

template <class Base, class Algorithm>
class reduce_scatter_calls : public Base {
 public:
  using Base::Base;
  using reduce_scatter_algorithm = Algorithm;

  /// out[i] = op over all ranks' in[rank() * n + i], where n = out.size() is the same everywhere and
  /// in.size() that times the number of ranks. The buffers do not overlap.
  template <element T, std::size_t N, std::size_t M, class Op = sum_t>
  requires reduction_operator<Op, T>
  void reduce_scatter(std::span<const T, N> in, std::span<T, M> out, Op op = {}) {
    const auto layout = even<T>(in, out);
    this->run(identify_reduction<Op, T>(operation::reduce_scatter, in.size_bytes()),
              begin<T>(in, out, layout, std::move(op)));
  }
  template <element T, std::size_t N, std::size_t M, class Op = sum_t>
  requires reduction_operator<Op, T> request ireduce_scatter(std::span<const T, N> in, std::span<T, M> out,
                                                             Op op = {}) {
    const auto layout = even<T>(in, out);
    return this->start(identify_reduction<Op, T>(operation::reduce_scatter, in.size_bytes()),
                       begin<T>(in, out, layout, std::move(op)));
  }
  /// The same with counts[r] elements for rank r, one block behind the other in `in`; the same counts on all
  /// ranks.
  template <element T, std::size_t N, std::size_t M, class Op = sum_t>
  requires reduction_operator<Op, T>
  void reduce_scatter(std::span<const T, N> in, std::span<T, M> out, std::span<const std::size_t> counts,
                      Op op = {}) {
    const auto layout = this->template uneven_layout<T>("reduce_scatter", counts, {}, in.size());
    this->check_sizes("reduce_scatter", counts[static_cast<std::size_t>(this->rank())], out.size());
    call what = identify_reduction<Op, T>(operation::reduce_scatter, layout.total());
    what.counts = layout.counts();
    this->run(what, begin<T>(in, out, layout, std::move(op)));
  }

 private:
  template <class T>
  block_layout even(std::span<const T> in, std::span<T> out) const {
    this->check_sizes("reduce_scatter", out.size() * static_cast<std::size_t>(this->size()), in.size());
    return block_layout::even(this->size(), out.size_bytes());
  }
  template <class T, class Op>
  auto begin(std::span<const T> in, std::span<T> out, block_layout layout, Op op) {
    return [this, in = blocks<const std::byte>{std::as_bytes(in), std::move(layout)},
            out = std::as_writable_bytes(out), op = reduction::of<T>(std::move(op))](epoch now) {
      if (op.element_bytes() > this->net_.block_bytes())
        return launch<reduce_scatter_by_rank>(this->net(), now, in, out, op);
      return launch<Algorithm>(this->net(), now, in, out, op);
    };
  }
};

template <class Base, class Algorithm>
class scan_calls : public Base {
 public:
  using Base::Base;
  using scan_algorithm = Algorithm;

  /// data[i] = op over data[i] of ranks 0 to rank(), in rank order. In place.
  template <element T, std::size_t N, class Op = sum_t>
  requires reduction_operator<Op, T>
  void scan(std::span<T, N> data, Op op = {}) {
    this->run(identify_reduction<Op, T>(operation::scan, data.size_bytes()),
              begin<T>(data, std::move(op), true));
  }
  template <element T, std::size_t N, class Op = sum_t>
  requires reduction_operator<Op, T> request iscan(std::span<T, N> data, Op op = {}) {
    return this->start(identify_reduction<Op, T>(operation::scan, data.size_bytes()),
                       begin<T>(data, std::move(op), true));
  }
  /// data[i] = op over data[i] of ranks 0 to rank() - 1, in rank order; that of rank 0 is left as it is. In
  /// place.
  template <element T, std::size_t N, class Op = sum_t>
  requires reduction_operator<Op, T>
  void exscan(std::span<T, N> data, Op op = {}) {
    this->run(identify_reduction<Op, T>(operation::exscan, data.size_bytes()),
              begin<T>(data, std::move(op), false));
  }
  template <element T, std::size_t N, class Op = sum_t>
  requires reduction_operator<Op, T> request iexscan(std::span<T, N> data, Op op = {}) {
    return this->start(identify_reduction<Op, T>(operation::exscan, data.size_bytes()),
                       begin<T>(data, std::move(op), false));
  }

 private:
  template <class T, class Op>
  auto begin(std::span<T> data, Op op, bool inclusive) {
    return [this, data = std::as_writable_bytes(data), op = reduction::of<T>(std::move(op)),
            inclusive](epoch now) { return launch<Algorithm>(this->net(), now, data, op, inclusive); };
  }
};

}  // namespace chorale::calls
