// A type with a constructor of its own cannot travel as bytes.
// expect: values of this type cannot be sent as bytes
#include <array>
#include <string>
#include <vector>

#include <chorale/communicator.hpp>

#ifdef SHOULD_FAIL
using text = std::string;
#else
using text = std::array<char, 32>;
#endif

void share(chorale::communicator<>& comm, std::vector<text>& values) {
  comm.broadcast(values, 0);
}
