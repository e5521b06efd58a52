// SPDX-License-Identifier: Apache-2.0
// The asynchronous events of a device.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/verbs/device.hpp>

namespace chorale::transport {

/// Reads the asynchronous events of a device for all its users: without them a dead adapter or a link that is
/// down looks like silent peers. Any thread.
class device_watch {
 public:
  /// `device` must outlive this.
  explicit device_watch(const verbs::device& device) noexcept;
  device_watch(const device_watch&) = delete;
  device_watch& operator=(const device_watch&) = delete;

  /// Readable when an event is pending; -1 if the device has no events.
  [[nodiscard]] int fd() const noexcept;
  /// Reads all pending events. @throws error ENODEV if the device has failed, now or before.
  void look();
  /// The errors that the device has reported, and when; empty if there are none.
  [[nodiscard]] std::string trouble() noexcept;

 private:
  struct report {
    ibv_event_type what;
    std::uint8_t port;
    clock::time_point when;
    std::string text;
  };
  /// False if another flow of control is reading events.
  bool take_events();

  const verbs::device* device_;
  std::atomic<bool> is_taking_{false};
  std::mutex mutex_;             ///< protects the reports; never held while yielding
  std::vector<report> reports_;  ///< errors that persist
};

}  // namespace chorale::transport
