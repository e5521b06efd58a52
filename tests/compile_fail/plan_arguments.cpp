// SPDX-License-Identifier: Apache-2.0
// Arguments that no plan can take: it uses its buffers after the statement that makes it.
// expect: a plan at each start, and this one is a temporary
// expect: what a call receives would be lost: this argument is a temporary
// expect: this argument is to receive and is const
// expect: a message is read until its exchange is over, and this one is a temporary
// expect: the elements that this call reads and those that it writes are of different types
#include <vector>

#include <chorale/plan.hpp>

using ints = std::vector<int>;

void mistakes(chorale::communicator<>& comm, ints& data, const ints& constant, std::vector<double>& reals) {
#ifdef SHOULD_FAIL
  auto a = comm.plan_gather(ints{1, 2, 3}, data);                           // read when it is gone
  auto b = comm.plan_broadcast(ints{1, 2, 3});                              // a temporary that receives
  auto c = comm.plan_allreduce(chorale::in_place, constant, chorale::sum);  // constant
  auto d = comm.plan_alltoall(data, reals);                                 // ints as doubles
  comm.iexchange({chorale::to(1, ints{1, 2, 3})}, {}).wait();               // read when it is gone
#else
  auto a = comm.plan_gather(constant, data);
  auto b = comm.plan_broadcast(std::span{data}.first(3));
  auto c = comm.plan_allreduce(chorale::in_place, data, chorale::sum);
  auto d = comm.plan_alltoall(reals, reals);
  auto e = comm.plan_allgatherv(data, data, {1, 2}, {0, 4});
  auto f = comm.plan_exchange({chorale::to(1, constant)}, {chorale::from(1, data)});
  auto g = comm.plan_scan(chorale::in_place, data, chorale::max);
  e.run();
  f.run();
  g.run();
#endif
  a.start();
  b.start();
  c.run();
  d.wait();
}
