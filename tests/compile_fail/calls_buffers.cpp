// SPDX-License-Identifier: Apache-2.0
// Buffers that no call can take: each mistake is one readable line.
// expect: a pointer does not say how many elements there are
// expect: the elements of this range are not contiguous in memory
// expect: values of this type cannot be sent as bytes
// expect: this object refers to elements elsewhere and is no contiguous range
// expect: what a call receives would be lost: this argument is a temporary
// expect: this argument is to receive and is const
// expect: reads its argument until its request is over, a plan at each start, and this one is a temporary
// expect: the elements that this call reads and those that it writes are of different types
// expect: a call cannot return elements of type bool
// expect: is a range of ranges, one for each rank
#include <list>
#include <string>
#include <vector>

#include <chorale/communicator.hpp>

using ints = std::vector<int>;

/// As an mdspan, a view of Kokkos or a map of Eigen: its bytes are a pointer.
struct view {
  view(int* first, int rows) : first_(first), rows_(rows) {}
  int* data() const { return first_; }
  int* first_;
  int rows_;
};

void mistakes(chorale::communicator<>& comm, ints& data, const ints& constant, std::vector<double>& reals) {
#ifdef SHOULD_FAIL
  view matrix{data.data(), 3};
  comm.broadcast(matrix);  // a pointer and a number
  std::list<int> list(3);
  std::vector<bool> bits(3);
  std::vector<std::string> texts(3);
  std::vector<ints> nested(3);
  comm.broadcast(data.data());                            // how many?
  comm.allreduce(chorale::in_place, list, chorale::sum);  // not contiguous
  comm.broadcast(bits);                                   // not contiguous
  comm.broadcast(texts);                                  // no bytes
  comm.allgather(data, nested);                           // no bytes, and of another type
  comm.broadcast(ints{1, 2, 3});                          // a temporary that receives
  comm.allreduce(data, ints(3), chorale::sum);            // the same
  comm.broadcast(constant);                               // constant
  comm.scan(chorale::in_place, constant, chorale::sum);   // the same
  comm.gather(data, constant);                            // the same
  comm.igather(ints{1, 2, 3}, data).wait();               // read when it is gone
  comm.alltoall(data, reals);                             // ints as doubles
  static_cast<void>(comm.gather(true));                   // std::vector<bool>
  static_cast<void>(comm.alltoallv(data));                // whose are they?
#else
  comm.broadcast(std::span{data.data(), data.size()});
  comm.allreduce(data, data, chorale::sum);
  comm.gather(constant, data);
  comm.igather(constant, data).wait();
  comm.alltoall(reals, reals);
  static_cast<void>(comm.gather('x'));
  static_cast<void>(comm.alltoallv(std::vector<ints>(3)));
#endif
}
