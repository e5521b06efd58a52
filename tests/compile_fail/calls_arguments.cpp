// SPDX-License-Identifier: Apache-2.0
// Operators, roots and counts that do not fit, and arguments in the wrong order: each mistake is one
// readable line.
// expect: a number stands where an operator is expected
// expect: the operator does not combine two of these elements into one
// expect: the operator is missing, such as chorale::sum
// expect: the form that returns its result combines single values
// expect: the root of a call is given as chorale::root{2}
// expect: the initial value of an exscan is given as chorale::initial{0}
// expect: the key of a split, by which ranks are ordered, is given as chorale::key{k}
// expect: the peer of a message is the number of a rank, an integer
// expect: counts and displacements are std::size_t, in elements
// expect: counts are a contiguous range of std::size_t
// expect: what a call receives would be lost: this argument is a temporary
// expect: does not say by its type which function it is
#include <string>
#include <vector>

#include <chorale/communicator.hpp>

int larger(int a, int b) {
  return a < b ? b : a;
}

void mistakes(chorale::communicator<>& comm, std::vector<int>& data, std::vector<int>& out) {
  int number = comm.rank();
  const std::vector<std::size_t> counts(static_cast<std::size_t>(comm.size()));
#ifdef SHOULD_FAIL
  const std::vector<int> int_counts(counts.size());
  comm.reduce(data, out, 2);  // a root is no operator
  comm.allreduce(data, out, [](const std::string& a, const std::string&) { return a; });  // not of int
  comm.scan(data, out, [](int& a, int& b) { return a += b; });       // it may change nothing
  comm.reduce_scatter(data, out);                                    // by which operator?
  comm.iallreduce(data, chorale::sum).wait();                        // in place is said
  static_cast<void>(comm.allreduce(data, chorale::sum));             // the same
  static_cast<void>(comm.exscan(0, number, chorale::sum));           // which one is scanned?
  static_cast<void>(comm.split(number, 0));                          // the colour or the key?
  comm.gather(number, out, 2);                                       // data or a root?
  comm.exchange({chorale::to(chorale::undefined_color, data)}, {});  // neither a rank nor nobody
  comm.exchange({chorale::to(data, data)}, {});                      // whose number?
  comm.broadcast(data, chorale::sum);                                // an operator is no root
  comm.broadcast(0, data);                                           // the other way round
  comm.gatherv(data, out, int_counts);                               // of int
  comm.gatherv(data, out, 0, counts);                                // the root before the counts
  comm.allreduce(data, out, &larger);                                // which function?
#else
  comm.reduce(data, out, chorale::sum, chorale::root{2});
  comm.allreduce(chorale::in_place, data, [](int a, int b) { return larger(a, b); });
  comm.reduce_scatter(data, out, chorale::sum);
  comm.iallreduce(chorale::in_place, number, chorale::sum).wait();
  static_cast<void>(comm.split(0, chorale::key{number}));
  number = comm.exscan(number, chorale::initial{0}, chorale::sum);
  comm.broadcast(data, chorale::root{0});
  comm.gather(number, out, chorale::root{1});
  comm.gatherv(data, out, counts, {}, chorale::root{0});
  comm.exchange({chorale::to(0, data), chorale::to(chorale::nobody, data)}, {});
#endif
}
