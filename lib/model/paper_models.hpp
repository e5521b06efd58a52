// SPDX-License-Identifier: Apache-2.0
// The papers' models: broadcast and allreduce over RDMA writes down and up a tree (P2 section 5, P3 figure
// 6.16), and allgathers (P4 section 2.3).
#pragma once

#include <cstddef>

namespace chorale::model {

/// The parts of the time of an RDMA write, in microseconds, with the papers' letters. The values are those
/// that P2 section 6.2.1 prints for 1 GHz Pentium III with a GigaNet cLAN adapter, except the last two.
struct event_costs {
  double library = 1.3;          ///< Tm: the message passing library, at the sender
  double descriptor = 0.6;       ///< Td: posting the descriptor
  double startup = 2;            ///< Ts: starting a DMA, at the sender and again at the receiver
  double adapter = 1.52;         ///< Tn: the adapter's processing, at both ends; less than Ts in the papers
  double transmit_byte = 0.010;  ///< Tt of a byte
  double copy_byte = 0.0027;     ///< Tc of a byte: between the user's buffer and a registered one
  /// Ta: the acknowledgement of a block. P2 prints no value; none of its printed results depends on it.
  double acknowledgement = 0;
  /// To of a byte: combining two operands. P2 prints no value. With this one, five cycles for an int, degree
  /// 3 is replaced by degree 1 between 1024 and 1025 bytes, as P2 section 6.2.2 has it.
  double combine_byte = 0.00127;
};

/// The best block size of P2 section 6.1.1, with the byte of the counter.
inline constexpr std::size_t giganet_block = 3073;

/// Microseconds of one step of the binomial broadcast: `bytes` in blocks of `block` bytes, whose last byte is
/// a counter: Tm + Td + 2 (Ts + Tn + Tc) + num (Tt + Ta). Tt is each block's own, since the last may be
/// shorter. The two Tc are those of the first block at the sender and of the last at the receiver: the other
/// copies overlap with the transfer. Source: P2 section 5.1.
/// @throws error errc::invalid_argument if `block` is below 2.
double broadcast_step(std::size_t bytes, std::size_t block = giganet_block, const event_costs& costs = {});

/// ceil(log2 ranks) such steps: a rank forwards a message when it has all of it (P2 section 4.1.3).
/// @throws error errc::invalid_argument if `ranks` is below 1 or `block` below 2.
double binomial_broadcast(int ranks, std::size_t bytes, std::size_t block = giganet_block,
                          const event_costs& costs = {});

/// Microseconds if the operand needed next arrives first and nothing contends, and if it arrives last.
struct best_and_worst {
  double best = 0;
  double worst = 0;
};

/// The reduce of P3 figure 6.16 to rank 0 up the tree of degree `k` = 2^m - 1. In a step with s senders the
/// receiver takes Ts + Tn + Tt + To. Each further sender adds max(Ts, Tt) in the best case, and in the worst
/// case To more, or Tn + To where Tt < Ts + Tn. The figure's cases are merged: the second and third, which Tt
/// < Ts distinguishes, differ from the first only in the worst case. Two apparent misprints are corrected:
/// `Quotient = 0` is read as `!= 0`, and `Nodes` as the senders of the step, as in P2 section 5.2. The figure
/// divides by k + 1, and so assumes powers of two; here the senders of each step are counted, for any number
/// of ranks.
/// @throws error errc::invalid_argument if `ranks` is below 1, or `k` is not 2^m - 1.
best_and_worst degree_k_reduce(int ranks, int k, std::size_t bytes, const event_costs& costs = {});

/// This reduce, then the binomial broadcast: P2 section 5.2. The figure leaves the broadcast out, but P2's
/// results for 512 and 1,024 nodes (section 6.2.2) include it.
/// @throws error errc::invalid_argument if `ranks` is below 1, `k` is not 2^m - 1, or `block` is below 2.
best_and_worst degree_k_allreduce(int ranks, int k, std::size_t bytes, std::size_t block = giganet_block,
                                  const event_costs& costs = {});

/// The degree 2^m - 1 whose reduce has the lowest best-case time, up to the degree with which all ranks send
/// to rank 0 at once; the smallest of equals. Source: P2 section 6.2.1, figure 11.
/// @throws error errc::invalid_argument if `ranks` is below 1.
int best_degree(int ranks, std::size_t bytes, const event_costs& costs = {});

/// The cost of a message, in microseconds. P4 prints no values.
struct hockney_costs {
  double startup = 0;  ///< ts
  double byte = 0;     ///< tw
};

/// T_rd = ts log2 p + (p - 1) m tw for p = `ranks` and m = `bytes`, a rank's block. P4 gives it for powers of
/// two. Other groups fold and unfold: ts (floor(log2 p) + 2) + (2 p - 1) m tw, since the last step brings all
/// p blocks to each rank that folded in the first.
/// @throws error errc::invalid_argument if `ranks` is below 1.
double recursive_doubling_allgather(int ranks, std::size_t bytes, const hockney_costs& costs);

/// T_ring = (p - 1) (ts + m tw).
/// @throws error errc::invalid_argument if `ranks` is below 1.
double ring_allgather(int ranks, std::size_t bytes, const hockney_costs& costs);

}  // namespace chorale::model
