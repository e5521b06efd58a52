// SPDX-License-Identifier: Apache-2.0
// Staging for messages to several peers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <chorale/transport/connections/connections.hpp>

namespace chorale::transport {

/// A staging place for one message to several peers. Its sends are posted signalled, on connections that
/// outlive it.
class shared_place {
 public:
  [[nodiscard]] std::byte* data() const noexcept { return memory_.data; }
  [[nodiscard]] std::uint32_t lkey() const noexcept { return memory_.lkey; }
  /// Request number `ticket` of that connection reads from this place.
  void note_posted(const connection& by, std::uint64_t ticket) { sends_.push_back({&by, ticket}); }
  /// No more sends follow.
  void close() noexcept { is_open_ = false; }

 private:
  friend class shared_staging;
  struct posted {
    const connection* by;
    std::uint64_t ticket;
  };
  [[nodiscard]] bool is_read() const noexcept;

  pool_block memory_{};
  std::vector<posted> sends_;
  bool is_open_ = false;
};

/// Registered places of one size for messages to several peers; each is held until all sends from it have
/// completed. Used round-robin; memory is allocated at first use. One thread at a time.
class shared_staging {
 public:
  /// `links` must outlive this.
  shared_staging(connections& links, std::size_t bytes, std::size_t places)
      : links_(&links), bytes_(bytes), places_(places) {}

  /// A place from which no send is pending; null if all are in use.
  [[nodiscard]] shared_place* take();
  [[nodiscard]] std::size_t registered_bytes() const noexcept;

 private:
  connections* links_;
  std::size_t bytes_;
  std::vector<shared_place> places_;
  std::size_t next_ = 0;
};

}  // namespace chorale::transport
