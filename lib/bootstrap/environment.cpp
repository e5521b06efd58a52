// SPDX-License-Identifier: Apache-2.0
#include "environment.hpp"

#include <cstdlib>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include <chorale/bootstrap/tcp.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>

#include "../core/printable.hpp"
#include "tcp_sockets.hpp"

namespace chorale::bootstrap {
namespace {

constexpr int last_port = 65535;

const char* needed(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0')
    throw error(
        errc::invalid_environment,
        fmt::format(
            "bootstrap::tcp needs {}, which is not set: each rank has RANK, its number, from 0; all have "
            "the same WORLD_SIZE, their number, MASTER_ADDR, the host of rank 0, and MASTER_PORT, a "
            "free port there",
            variable));
  return text;
}

int number_of(const char* variable, int lowest, int highest) {
  const char* text = needed(variable);
  const int value = integer_of(variable, lowest - 1);
  if (value < lowest || value > highest)
    throw error(errc::invalid_environment, fmt::format("{}='{}' cannot be used: it accepts {} to {}",
                                                       variable, printable(text), lowest, highest));
  return value;
}

int port_of_environment() {
  if (std::getenv("CHORALE_TCP_PORT") != nullptr) return number_of("CHORALE_TCP_PORT", 1, last_port);
  const int port = number_of("MASTER_PORT", 1, last_port);
  const char* agent = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  if (agent == nullptr || std::string_view{agent} != "True") return port;
  if (port == last_port)
    throw error(
        errc::invalid_environment,
        fmt::format("MASTER_PORT='{}' cannot be used: the agent of torchrun listens there "
                    "(TORCHELASTIC_USE_AGENT_STORE), and there is no next port; set CHORALE_TCP_PORT to "
                    "a free port of rank 0's host",
                    port));
  return port + 1;
}

}  // namespace

void require_expected_ranks(int size, errc otherwise, std::string_view how) {
  const char* text = std::getenv("CHORALE_RANKS");
  if (text == nullptr) return;
  const int value = integer_of("CHORALE_RANKS", 0);
  if (value < 1)
    throw error(errc::invalid_environment,
                fmt::format("CHORALE_RANKS='{}' cannot be used: it accepts a number of ranks, 1 and up",
                            printable(text)));
  if (value != size)
    throw error(otherwise,
                fmt::format("CHORALE_RANKS expects {} ranks, but there are {}: {}", value, size, how));
}

tcp_environment tcp_environment::read() {
  constexpr int most = std::numeric_limits<int>::max();
  tcp_environment found;
  found.size = number_of("WORLD_SIZE", 1, most);
  found.rank = number_of("RANK", 0, found.size - 1);
  found.address = tcp_place{needed("MASTER_ADDR"), static_cast<std::uint16_t>(port_of_environment())}.text();
  return found;
}

tcp_options tcp_options::from_environment() {
  detail::require_same_layouts();
  tcp_options options;
  if (const char* secret = std::getenv("CHORALE_TCP_SECRET")) options.secret = secret;
  if (const auto deadline = config::from_environment().deadline; deadline.count() != 0)
    options.deadline = deadline;
  return options;
}

}  // namespace chorale::bootstrap
