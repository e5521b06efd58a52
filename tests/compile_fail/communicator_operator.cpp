// An operator takes and gives elements.
// expect: the operator does not combine two of these elements into one
#include <string>

#include <chorale/communicator.hpp>

struct longest {
#ifdef SHOULD_FAIL
  std::string operator()(const std::string& a, const std::string& b) const {
    return a.size() < b.size() ? b : a;
  }
#else
  int operator()(int a, int b) const { return a < b ? b : a; }
#endif
};

int most(chorale::communicator<>& comm, int value) {
  return comm.allreduce(value, longest{});
}
