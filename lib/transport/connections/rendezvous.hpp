// The rendezvous of long messages between two ranks: what may come when.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chorale::transport {

/// What a receiver answers a request with: where the bytes go. Travels as it lies in memory.
struct clear_to_send {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t key = 0;
  std::uint32_t number = 0;  ///< of the rendezvous, as the request said
};
static_assert(sizeof(clear_to_send) == 24);

/// The sender's side of rendezvous with one peer, one after the other: request, answer, data, end. It has no
/// device and no memory: messages in, states out. Source: the rendezvous of P4 section 3.3.
class rendezvous_sender {
 public:
  enum class state {
    idle,
    asked,    ///< the request is under way, or the receiver has not posted a place yet
    cleared,  ///< the receiver waits for the bytes
    sending,  ///< they are under way
  };
  [[nodiscard]] state now() const noexcept { return state_; }
  /// The number that the request for the next message has.
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  /// Where the bytes go. Precondition: cleared.
  [[nodiscard]] const clear_to_send& place() const noexcept { return place_; }

  /// The request for a message of so many bytes has been sent. Precondition: idle.
  void ask(std::size_t bytes) noexcept {
    bytes_ = bytes;
    state_ = state::asked;
  }
  /// An answer has come. @returns what is wrong with it, or null.
  [[nodiscard]] const char* on_clear(const clear_to_send& answer) noexcept {
    if (state_ != state::asked) return "it clears a message to be sent that it was not asked for";
    if (answer.number != number_) return "it clears another message to be sent than it was asked for";
    if (answer.bytes != bytes_) return "it clears a message of another length than it was asked for";
    place_ = answer;
    state_ = state::cleared;
    return nullptr;
  }
  /// All bytes have been handed to the device. Precondition: cleared.
  void send() noexcept { state_ = state::sending; }
  /// They have arrived. Precondition: sending.
  void end() noexcept {
    ++number_;
    state_ = state::idle;
  }

 private:
  state state_ = state::idle;
  std::uint32_t number_ = 0;
  std::size_t bytes_ = 0;
  clear_to_send place_;
};

/// The receiver's side.
class rendezvous_receiver {
 public:
  enum class state {
    idle,
    cleared,  ///< the sender has been told where the bytes go
    placed,   ///< they are there
  };
  [[nodiscard]] state now() const noexcept { return state_; }

  /// What is wrong with the number of a request, or null. Precondition: idle.
  [[nodiscard]] const char* check(std::uint32_t number) const noexcept {
    return number == number_ ? nullptr : "its requests to send are not in order";
  }
  /// The answer to the request that was checked last has been sent. Precondition: idle.
  void clear() noexcept { state_ = state::cleared; }
  /// The sender says that the bytes of message `number` are there. @returns what is wrong with it, or null.
  [[nodiscard]] const char* on_placed(std::uint32_t number) noexcept {
    if (state_ != state::cleared || number != number_)
      return "it ends a message that it was not cleared to send";
    place();
    return nullptr;
  }
  /// The bytes of the message are there. Precondition: cleared.
  void place() noexcept { state_ = state::placed; }
  /// Precondition: placed.
  void end() noexcept {
    ++number_;
    state_ = state::idle;
  }

 private:
  state state_ = state::idle;
  std::uint32_t number_ = 0;
};

}  // namespace chorale::transport
