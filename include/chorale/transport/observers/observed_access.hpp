// An operation of a window, as observers are told of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <chorale/core/clock.hpp>
#include <chorale/transport/call_record.hpp>

namespace chorale::transport {

/// While this lives a one-sided operation is under way. Where somebody observes the communicator they are
/// told of it when it is over, well or not; else this costs the test of one bit.
class [[nodiscard]] observed_access {
 public:
  /// Which one: the kinds of `observed_event` of these names, which this header would be dearer to include.
  enum class kind : std::uint8_t { put, got, updated, flushed, notified, awaited };

  /// `peer`: -1 for all or any. `bytes`: what is put, got or updated.
  observed_access(call_record& calls, kind what, int peer, std::size_t bytes = 0) noexcept
      : calls_(calls.is_observed() ? &calls : nullptr), what_(what), peer_(peer), bytes_(bytes) {
    if (calls_ != nullptr) [[unlikely]]
      begin();
  }
  observed_access(const observed_access&) = delete;
  observed_access& operator=(const observed_access&) = delete;
  ~observed_access() {
    if (calls_ != nullptr) [[unlikely]]
      tell();
  }

 private:
  void begin() noexcept;
  void tell() const noexcept;

  call_record* calls_;
  kind what_;
  int peer_;
  std::size_t bytes_;
  clock::time_point begin_{};
};

}  // namespace chorale::transport
