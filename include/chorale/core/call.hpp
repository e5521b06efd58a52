// The identity of a collective call: what has to be the same on every rank.
#pragma once

#include <cstdint>
#include <string>

namespace chorale {

/// The collective operations.
enum class operation : std::uint8_t {
  none,
  barrier,
  broadcast,
  reduce,
  allreduce,
  allgather,
  allgatherv,
  gather,
  gatherv,
  scatter,
  scatterv,
  alltoall,
  alltoallv,
  reduce_scatter,
  scan,
  exscan,
  split,   ///< makes communicators of parts of this one
  window,  ///< makes, fences or ends a window
};

/// What a rank asked for. Ranks whose calls of the same number differ in any field do not belong together.
struct call {
  operation what = operation::none;
  std::int32_t root = -1;       ///< -1 where the operation has no root
  std::uint64_t bytes = 0;      ///< bytes of the payload of one rank; 0 where ranks may differ
  std::uint32_t type = 0;       ///< `type_tag` of the element; 0 where there is none
  std::uint32_t reduction = 0;  ///< `operator_tag`; 0 where nothing is reduced

  friend bool operator==(const call&, const call&) = default;

  /// 32 bits that travel behind each message, so that a mismatch is seen where it happens, at no extra
  /// message.
  [[nodiscard]] constexpr std::uint32_t signature() const noexcept {
    std::uint64_t h = 0x9e3779b97f4a7c15ULL * (static_cast<std::uint64_t>(what) + 1);
    h = mix(h ^ static_cast<std::uint32_t>(root));
    h = mix(h ^ bytes);
    h = mix(h ^ (static_cast<std::uint64_t>(type) << 32 | reduction));
    return static_cast<std::uint32_t>(h ^ (h >> 32));
  }

  /// "allreduce of 16 bytes", "broadcast of 8 bytes from root 2".
  [[nodiscard]] std::string describe() const;
  /// In which of operation, root, bytes, type and operator the other call differs: "root 2, not 0; ...".
  [[nodiscard]] std::string difference(const call& other) const;

 private:
  static constexpr std::uint64_t mix(std::uint64_t x) noexcept {
    x *= 0xff51afd7ed558ccdULL;
    return x ^ (x >> 29);
  }
};

/// One call of one communicator: its number (from 1, the same on all ranks) and the call's signature.
struct epoch {
  std::uint64_t number = 0;
  std::uint32_t signature = 0;
};

const char* name(operation what) noexcept;

}  // namespace chorale
