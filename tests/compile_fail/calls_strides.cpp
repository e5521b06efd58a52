// SPDX-License-Identifier: Apache-2.0
// Operands with strides: each mistake is one readable line.
// expect: the elements of this view with strides cannot be sent as bytes
// expect: this view with strides is to receive, and its elements are const
// expect: the elements that this call reads and those that it writes are of different types
// expect: a view with strides has at most five dimensions
#include <array>
#include <string>
#include <vector>

#include <chorale/communicator.hpp>

using ints = std::vector<int>;

/// As an mdspan of `Rank` dimensions.
template <std::size_t Rank>
struct grid {
  explicit grid(int* first) : first_(first) {}
  static constexpr std::size_t rank() { return Rank; }
  int* data_handle() const { return first_; }
  struct shape {
    std::size_t extent(std::size_t) const { return 2; }
  };
  shape extents() const { return {}; }
  std::size_t stride(std::size_t i) const { return std::size_t{3} << i; }
  int* first_;
};

void mistakes(chorale::communicator<>& comm, ints& data, const ints& constant, std::vector<double>& reals,
              std::vector<std::string>& texts) {
  using chorale::strided;
#ifdef SHOULD_FAIL
  comm.gather(strided{texts, 2, 1, 2}, data);                         // no bytes
  comm.broadcast(strided{constant, 2, 1, 2});                         // constant
  comm.exchange({}, {chorale::from(0, strided{constant, 2, 1, 2})});  // the same
  comm.alltoall(strided{data, 2, 1, 2}, reals);                       // ints as doubles
  comm.broadcast(grid<6>{data.data()});                               // six dimensions
#else
  static_cast<void>(texts);
  comm.gather(strided{constant, 2, 1, 2}, data);
  comm.broadcast(strided{data, 2, 1, 2});
  comm.exchange({}, {chorale::from(0, strided{data, 2, 1, 2})});
  comm.alltoall(strided{reals, 2, 1, 2}, reals);
  comm.broadcast(grid<5>{data.data()});
#endif
}
