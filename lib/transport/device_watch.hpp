// What a device reports of itself, besides completions.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/verbs/device.hpp>

namespace chorale::transport {

/// Takes the asynchronous events of a device, for all who use it: a dead adapter or a link that is down here
/// otherwise looks like silent peers. Any thread.
class device_watch {
 public:
  /// `device` must outlive this.
  explicit device_watch(const verbs::device& device) noexcept;
  device_watch(const device_watch&) = delete;
  device_watch& operator=(const device_watch&) = delete;

  /// Readable when there is something to look at; -1 if the device has no events.
  [[nodiscard]] int fd() const noexcept;
  /// Takes all events that have come. @throws error ENODEV if the device has failed, now or before.
  void look();
  /// What is wrong with the device, as far as it says, and since when; empty if nothing is.
  [[nodiscard]] std::string trouble() noexcept;

 private:
  struct report {
    ibv_event_type what;
    std::uint8_t port;
    clock::time_point when;
    std::string text;
  };
  /// False if another flow of control is doing so.
  bool take_events();

  const verbs::device* device_;
  std::atomic<bool> is_taking_{false};
  std::mutex mutex_;             ///< of the reports; nobody gives way under it
  std::vector<report> reports_;  ///< what has not been put right again
};

}  // namespace chorale::transport
