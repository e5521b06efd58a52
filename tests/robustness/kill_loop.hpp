// Two survivors and a victim: what they tell each other through the controller.
#pragma once

#include <cstddef>
#include <cstdint>

#include "programs.hpp"

namespace robustness {

inline constexpr std::size_t block_bytes = 96 * 1024;  // more than one bounce
inline constexpr std::size_t guard_bytes = 4096;
inline constexpr std::size_t message_bytes = 3000;
inline constexpr std::uint32_t kill_qkey = 0x4711;
/// Of a word that survivor and victim add to: the survivor's half, the lower.
inline constexpr std::uint64_t survivors_share = 0xffffffff;

/// A survivor's word to the victim.
struct invitation {
  std::uint32_t qpn;
  std::uint32_t datagram_qpn;
  std::uint32_t rkey;
  std::uint32_t word_key;
  std::uint64_t memory;  ///< guard, block, guard
  std::uint64_t word;    ///< private memory, to which the other survivor adds as well
};

enum class command : std::uint32_t { pair, begin, connect, dead, quit };
struct order {
  command what;
  soft_test::address to;  ///< pair: the other survivor; connect: the victim
  bool shared;            ///< begin: memory that others can map
};

/// What a survivor says after each round.
struct report {
  bool good;
  int descriptors;
  long anonymous_kib;
  long received;   ///< messages and datagrams of the victim, all with the right bytes
  long completed;  ///< requests to the victim that went well
  long lost;       ///< quit: receives for datagrams that no completion tells of
  char text[200];
};

unsigned char message_byte(std::uint64_t number, std::size_t i) noexcept;

/// Serves orders until it is told to quit or the controller ends.
void survive(soft_test::wire& line, std::uint64_t seed, int number);
/// Joins and attacks whoever invites it, in a way that `seed` chooses, until it is killed; or, if it
/// `churns`, joins and leaves in a loop.
void attack(soft_test::wire& line, std::uint64_t seed, bool churns);

}  // namespace robustness
