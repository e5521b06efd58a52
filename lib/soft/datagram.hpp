// SPDX-License-Identifier: Apache-2.0
// A datagram in flight, independent of the queue pair that sent it.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "memory.hpp"
#include "objects.hpp"

namespace chorale::soft {

/// The contents of a datagram besides its payload.
struct datagram_header {
  address_vector to;
  std::uint32_t source_qpn;
  std::uint32_t qkey;
  std::uint32_t imm;
  bool has_imm;
  bool solicited;
};

/// Delivers a datagram to a QP, if the QP accepts it. The caller guards `regions`.
void deliver_datagram(process& self, region_cache& regions, std::uint32_t qpn, const datagram_header& header,
                      std::span<const local_piece> payload) noexcept;

/// The deferred engine's datagrams in flight. Thread-safe; call with at most a send lock held.
class flights {
 public:
  /// Launches a datagram, which arrives now, later, twice or never, as the seed decides for this `number` of
  /// this sender and this `copy` to a group. If there is no memory to delay it, it arrives now.
  void launch(process& self, std::uint64_t sender, std::uint64_t number, std::uint32_t copy,
              std::uint32_t qpn, const datagram_header& header,
              std::span<const local_piece> payload) noexcept;
  /// Delivers datagrams that are due, or `all`.
  void land(process& self, bool all = false) noexcept;

 private:
  struct flight {
    std::uint64_t due;
    std::uint32_t qpn;
    datagram_header header;
    std::vector<unsigned char> payload;
  };
  void put(process& self, std::uint64_t due, std::uint32_t qpn, const datagram_header& header,
           std::span<const local_piece> payload);

  std::mutex mutex_;
  std::vector<flight> flights_;  ///< in launch order
  region_cache regions_;
};

}  // namespace chorale::soft
