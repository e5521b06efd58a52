// A type with a constructor of its own cannot travel as bytes.
// expect: is_trivially_copyable
#include <array>
#include <string>

#include <chorale/communicator.hpp>

#ifdef SHOULD_FAIL
using text = std::string;
#else
using text = std::array<char, 32>;
#endif

void share(chorale::communicator<>& comm, text& value) {
  comm.broadcast(value, 0);
}
