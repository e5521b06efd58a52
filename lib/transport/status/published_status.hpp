// SPDX-License-Identifier: Apache-2.0
// The status of a rank, where chorale-status can read it.
#pragma once

#include <memory>
#include <string_view>

#include <chorale/core/clock.hpp>
#include <chorale/transport/status/status.hpp>

#include "status_slot.hpp"

namespace chorale::transport {

class membership;
class status_segment;

/// A slot in memory that other processes of this user can read during its lifetime. If there is none (no free
/// descriptor, file size limit below 1 MiB, more than 511 communicators in the process, simulated time), the
/// slot is in private memory and behaves the same, but is invisible to other processes. One thread at a time
/// per object; several objects on any threads.
class published_status {
 public:
  explicit published_status(const membership& group);
  ~published_status();
  published_status(const published_status&) = delete;
  published_status& operator=(const published_status&) = delete;

  [[nodiscard]] status_page& page() noexcept { return slot_->page; }
  void set_label(std::string_view label) noexcept;
  void note_failure(std::string_view why) noexcept;
  /// The calling thread waits in call `number` for `peer` since `since`; see `status_page::note_wait`.
  void note_wait(std::uint64_t number, std::int32_t peer, clock::time_point since,
                 clock::time_point until) noexcept;
  /// Notes the time if this rank is outside all calls and was not before. The service thread calls this now
  /// and then: reading the clock at the end of each call would slow down short calls too much.
  void note_absence() noexcept;

 private:
  std::shared_ptr<status_segment> segment_;  ///< null: the slot is private
  std::unique_ptr<status_slot> own_;
  status_slot* slot_;
};

}  // namespace chorale::transport
