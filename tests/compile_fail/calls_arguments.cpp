// Operators, roots and counts that do not fit, and arguments in the wrong order: each mistake is one
// readable line.
// expect: a number stands where an operator is expected
// expect: the operator does not combine two of these elements into one
// expect: the root of a call is the number of a rank, an integer
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
  const std::vector<std::size_t> counts(static_cast<std::size_t>(comm.size()));
#ifdef SHOULD_FAIL
  const std::vector<int> int_counts(counts.size());
  comm.reduce(data, out, 2);                                                         // a root is no operator
  comm.allreduce(data, [](const std::string& a, const std::string&) { return a; });  // not of int
  comm.scan(data, [](int& a, int& b) { return a += b; });                            // it may change nothing
  comm.broadcast(data, chorale::sum);                                                // an operator is no root
  comm.gather(data, out, 1.5);                                                       // nor is this a rank
  comm.broadcast(0, data);                                                           // the other way round
  comm.gatherv(data, out, int_counts);                                               // of int
  comm.gatherv(data, out, 0, counts);  // the root before the counts
  comm.allreduce(data, &larger);       // which function?
#else
  comm.reduce(data, out, chorale::sum, 2);
  comm.allreduce(data, [](int a, int b) { return larger(a, b); });
  comm.broadcast(data, 0);
  comm.gather(data, out, 1);
  comm.gatherv(data, out, counts, 0);
#endif
}
