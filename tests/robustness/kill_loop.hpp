// SPDX-License-Identifier: Apache-2.0
// Two survivors and a victim: the messages that they exchange through the controller.
#pragma once

#include <cstddef>
#include <cstdint>

#include "programs.hpp"

namespace robustness {

inline constexpr std::size_t block_bytes = 96 * 1024;  // more than one bounce
inline constexpr std::size_t guard_bytes = 4096;
inline constexpr std::size_t message_bytes = 3000;
inline constexpr std::uint32_t kill_qkey = 0x4711;
/// The survivor's half, the lower, of a word to which survivor and victim add.
inline constexpr std::uint64_t survivors_share = 0xffffffff;

/// The addresses that a survivor sends to the victim.
struct invitation {
  std::uint32_t qpn;
  std::uint32_t datagram_qpn;
  std::uint32_t rkey;
  std::uint32_t word_key;
  std::uint64_t memory;  ///< guard, block, guard
  std::uint64_t word;    ///< private memory, to which the other survivor also adds
};

enum class command : std::uint32_t { pair, begin, connect, dead, quit };
struct order {
  command what;
  soft_test::address to;  ///< pair: the other survivor; connect: the victim
  bool shared;            ///< begin: memory that others can map
};

/// A survivor's report after each round.
struct report {
  bool good;
  int descriptors;
  long anonymous_kib;
  long received;   ///< messages and datagrams of the victim, all with correct content
  long completed;  ///< successful requests to the victim
  long lost;       ///< quit: receives for datagrams without a completion
  char text[200];
};

unsigned char message_byte(std::uint64_t number, std::size_t i) noexcept;

/// Serves orders until it is told to quit or the controller ends.
void survive(soft_test::wire& line, std::uint64_t seed, int number);
/// Joins and sends requests to inviting survivors, chosen by `seed`, until killed; or, if `churns`, joins and
/// leaves in a loop.
void attack(soft_test::wire& line, std::uint64_t seed, bool churns);

}  // namespace robustness
