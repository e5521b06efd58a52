// A rank that has met the others and then cannot take part.
#pragma once

namespace chorale::transport {

class control_channel;
class membership;

/// The others count on this rank. If that ends before it is dismissed, its communicator could not be made,
/// and they are told: they would wait for it.
class no_start_guard {
 public:
  no_start_guard(control_channel& channel, const membership& group) noexcept
      : channel_(&channel), group_(&group) {}
  no_start_guard(const no_start_guard&) = delete;
  no_start_guard& operator=(const no_start_guard&) = delete;
  /// Takes 500 ms at most if nothing leaves.
  ~no_start_guard();

  void dismiss() noexcept { channel_ = nullptr; }

 private:
  control_channel* channel_;
  const membership* group_;
};

}  // namespace chorale::transport
