// SPDX-License-Identifier: Apache-2.0
// Single steps of the multicast protocol.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "../../lib/transport/multicast/multicast_messages.hpp"
#include "bare.hpp"

namespace inprocess {

using chorale::call_id;
using chorale::transport::multicast_window;
using namespace std::chrono_literals;

constexpr std::uint32_t signature = 0x1234;
inline call_id call(std::uint64_t number) {
  return {number, signature};
}

/// Number of datagrams that a rank can receive without polling: it loses further ones.
constexpr std::uint64_t room = 4 * multicast_window;

inline std::vector<std::byte> payload(std::uint64_t i) {
  std::vector<std::byte> bytes(i % 100);
  for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<std::byte>(i + 7 * at);
  return bytes;
}

/// Calls `step` until it returns true; fails after 20 s.
template <class Step>
void until(Step&& step) {
  const auto give_up = chorale::clock::now() + 20s;
  while (!step()) {
    REQUIRE(chorale::clock::now() < give_up);
    std::this_thread::yield();
  }
}

inline bool receives(team& all, int rank, int root, std::uint64_t i) {
  std::span<const std::byte> message;
  if (!all.group(rank).try_receive(root, call(i), message)) return false;
  const auto expected = payload(i);
  REQUIRE(std::equal(message.begin(), message.end(), expected.begin(), expected.end()));
  all.group(rank).release(root);
  return true;
}

}  // namespace inprocess
