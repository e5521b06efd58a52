// The awaitable of every operation of a transport.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>

#include <chorale/core/call.hpp>

namespace chorale::transport {

/// How far an await has come; cannot be copied, since what is awaited is awaited once.
class await_stage {
 public:
  await_stage() = default;
  await_stage(const await_stage&) = delete;
  await_stage& operator=(const await_stage&) = delete;
  void begin() noexcept { at_ = begun; }
  void suspend() noexcept { at_ = suspended; }
  [[nodiscard]] bool was_suspended() const noexcept { return at_ == suspended; }
  [[nodiscard]] bool is_forgotten() const noexcept { return at_ == made && std::uncaught_exceptions() == 0; }

 private:
  enum : std::uint8_t { made, begun, suspended } at_ = made;
};

/// What `co_await` gets from a transport: ready at once if `poll()` is true, else it waits (blocking calls)
/// or parks (nonblocking ones). `poll` may act and may throw. One that is destroyed without having been
/// awaited fails the call: it has done nothing.
template <class Net, class Poll>
struct [[nodiscard]] waiting {
  Net& net;
  int peer;
  epoch now;
  Poll poll;
  await_stage stage{};

  ~waiting() {
    if (stage.is_forgotten()) [[unlikely]]
      net.frames().note_forgotten();
  }
  bool await_ready() {
    stage.begin();
    try {
      if (poll()) [[likely]]
        return true;
      if (!net.blocking()) return false;
      net.wait(peer, now, poll);
      return true;
    } catch (...) {
      // Before the algorithm is unwound: peers may be writing into what it has.
      net.let_go();
      throw;
    }
  }
  void await_suspend(std::coroutine_handle<> frame) {
    stage.suspend();
    net.park(
        frame, peer, now, [](void* self) { return static_cast<waiting*>(self)->poll(); }, this);
  }
  auto await_resume() {
    if (stage.was_suspended()) net.rethrow_parked_failure();
    if constexpr (requires { poll.result(); }) return poll.result();
  }
};
template <class Net, class Poll>
waiting(Net&, int, epoch, Poll) -> waiting<Net, Poll>;

}  // namespace chorale::transport
