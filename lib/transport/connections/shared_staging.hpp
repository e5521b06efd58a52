// SPDX-License-Identifier: Apache-2.0
// Staging for messages to several peers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
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
  /// No more sends follow, from this place and the next ones.
  void close() noexcept {
    for (shared_place* one = this; one != nullptr; one = std::exchange(one->next_, nullptr))
      one->is_open_ = false;
  }

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
  const lane* by_ = nullptr;
  shared_place* next_ = nullptr;  ///< with the same payload, on another lane
};

/// Registered places of one size for messages to several peers of one lane; each is held until all sends from
/// it have completed. Used round-robin; memory is allocated at first use. One thread at a time.
class shared_staging {
 public:
  /// `by` is a lane of `links`, which must outlive this.
  shared_staging(connections& links, lane& by, std::size_t bytes, std::size_t places)
      : links_(&links), by_(&by), bytes_(bytes), places_(places) {}

  /// The place on this lane among the places with the same payload, from `first` on; null if there is none.
  [[nodiscard]] shared_place* find(shared_place* first) const noexcept {
    while (first != nullptr && first->by_ != by_) first = first->next_;
    return first;
  }
  /// A place to copy the payload to, from which no send is pending; null if all are in use. `others`: the
  /// first place with the same payload, which now follows this one, or null.
  [[nodiscard]] shared_place* take(shared_place* others);
  [[nodiscard]] std::size_t registered_bytes() const noexcept;

 private:
  connections* links_;
  lane* by_;
  std::size_t bytes_;
  std::vector<shared_place> places_;
  std::size_t next_ = 0;
};

}  // namespace chorale::transport
