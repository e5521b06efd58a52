// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chorale/calls/explain.hpp>
#include <chorale/transport/endpoint/endpoint.hpp>

namespace chorale::calls {

std::string explained(operation what, std::size_t bytes, const transport::endpoint& on, const char* transport,
                      const std::string& said) {
  if (said.empty()) return fmt::format("{} is served by no algorithm", name(what));
  const std::string announced = on.announcements();
  return fmt::format("{} of {} bytes on {} ranks over {}{}{}: {}", name(what), bytes, on.size(), transport,
                     announced.empty() ? "" : ", data announced ", announced, said);
}

}  // namespace chorale::calls
