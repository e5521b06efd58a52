// SPDX-License-Identifier: Apache-2.0
// The rendezvous protocol for long messages between two ranks: which message may follow which.
#pragma once

#include <cstddef>
#include <cstdint>

#include <chorale/core/sendable.hpp>

namespace chorale::transport {

/// The receiver's answer to a request: the destination of the data. Sent as raw bytes.
struct clear_to_send {
  std::uint64_t address = 0;  ///< 0 if the data is not to be written there
  std::uint64_t bytes = 0;
  std::uint32_t key = 0;
  std::uint32_t number = 0;  ///< number of the rendezvous, from the request
};
static_assert(sizeof(clear_to_send) == 24 && detail::sendable<clear_to_send>);

/// The sender's side of consecutive rendezvous with one peer: request, answer, data, end; or, if one side
/// cannot register its memory: request, answer, announcement of blocks, blocks. Sans-I/O: messages in, states
/// out. Source: the rendezvous of P4 section 3.3.
class rendezvous_sender {
 public:
  enum class state {
    idle,
    asked,    ///< the request was sent, but the receiver has not answered, or not posted a destination yet
    cleared,  ///< the receiver has answered and waits for the data
    sending,  ///< the data is in flight
    copying,  ///< the receiver was told that the data comes in blocks
  };
  [[nodiscard]] state now() const noexcept { return state_; }
  /// The number for the request of the next message.
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  /// Destination of the data. Precondition: cleared.
  [[nodiscard]] const clear_to_send& place() const noexcept { return place_; }

  /// The request for a message of `bytes` was sent. Precondition: idle.
  void ask(std::size_t bytes) noexcept {
    bytes_ = bytes;
    state_ = state::asked;
  }
  /// An answer has arrived. @returns a description of the protocol error, or null.
  [[nodiscard]] const char* on_clear(const clear_to_send& answer) noexcept {
    if (state_ != state::asked) return "it clears a message to be sent that it was not asked for";
    if (answer.number != number_) return "it clears another message to be sent than it was asked for";
    if (answer.bytes != bytes_) return "it clears a message of another length than it was asked for";
    place_ = answer;
    state_ = state::cleared;
    return nullptr;
  }
  /// All data was handed to the device. Precondition: cleared.
  void send() noexcept { state_ = state::sending; }
  /// The receiver was told that the data comes in blocks. Precondition: cleared.
  void copy() noexcept { state_ = state::copying; }
  /// All data has arrived, or is in blocks. Precondition: sending or copying.
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
    cleared,  ///< the sender was told the destination
    copying,  ///< the sender has said that the data comes in blocks
    placed,   ///< the data has arrived
  };
  [[nodiscard]] state now() const noexcept { return state_; }

  /// Checks the number of a request. @returns a description of the error, or null. Precondition: idle.
  [[nodiscard]] const char* check(std::uint32_t number) const noexcept {
    return number == number_ ? nullptr : "its requests to send are not in order";
  }
  /// The answer to the last checked request was sent. Precondition: idle.
  void clear() noexcept { state_ = state::cleared; }
  /// The sender says that the data of message `number` has arrived. @returns a description of the error, or
  /// null.
  [[nodiscard]] const char* on_placed(std::uint32_t number) noexcept {
    if (state_ != state::cleared || number != number_)
      return "it ends a message that it was not cleared to send";
    place();
    return nullptr;
  }
  /// The sender says that the data of message `number` comes in blocks. @returns a description of the error,
  /// or null.
  [[nodiscard]] const char* on_copies(std::uint32_t number) noexcept {
    if (state_ != state::cleared || number != number_)
      return "it sends the blocks of a message that it was not cleared to send";
    state_ = state::copying;
    return nullptr;
  }
  /// The data of the message has arrived. Precondition: cleared or copying.
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
