// SPDX-License-Identifier: Apache-2.0
// Messages, signals and puts from one rank to another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <chorale/core/call.hpp>

namespace fake {

/// A mistake that a real transport would refuse, or would not detect.
struct broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A number of puts: a message, signal or notice guarantees that all puts before it are complete.
using put_count = std::uint64_t;

/// A sender's mailbox at a receiver, with the sender's puts. Puts are executed as late as allowed: when the
/// receiver has received anything sent after the put, or when the sender flushes. Released blocks are
/// overwritten, so that an algorithm that still reads them computes wrong results.
class lane {
 public:
  /// `from` and `to` are for errors.
  lane(int from, int to, std::size_t block_bytes, std::size_t blocks)
      : from_(from), to_(to), block_bytes_(block_bytes), blocks_(blocks) {}

  /// The sender gets its credits back when half of all blocks have been released, or by an answer.
  [[nodiscard]] bool has_room() const noexcept { return sent_ - credited_ < blocks_.size(); }
  void send(chorale::call_id now, std::span<const std::byte> bytes) {
    if (bytes.size() > block_bytes_)
      fail("sends a message of " + std::to_string(bytes.size()) + " bytes in a block of " +
           std::to_string(block_bytes_));
    blocks_[sent_++ % blocks_.size()] = {now, {bytes.begin(), bytes.end()}, put_};
  }
  [[nodiscard]] bool has_message() const noexcept { return received_ < sent_; }
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
  /// The next message, which must be of call `now`. Precondition: there is one.
  [[nodiscard]] std::span<const std::byte> receive(chorale::call_id now) {
    const block& next = blocks_[received_ % blocks_.size()];
    require_same(next.call, now);
    place(next.behind);
    ++received_;
    return next.bytes;
  }
  /// Releases message number `index`, from 0. False if it is not the oldest unreleased one.
  [[nodiscard]] bool release(std::uint64_t index) noexcept {
    if (index != released_) return false;
    auto& bytes = blocks_[released_++ % blocks_.size()].bytes;
    std::fill(bytes.begin(), bytes.end(), std::byte{0xdd});
    if (released_ - told_ >= blocks_.size() / 2) credited_ = told_ = released_;
    return true;
  }
  /// For the sender: an answer has arrived. False if it cannot be one.
  [[nodiscard]] bool is_answered(std::uint64_t messages) noexcept {
    credited_ = std::max(credited_, messages);
    return messages <= released_;
  }
  /// For the receiver: an answer will follow. False if messages are not released.
  [[nodiscard]] bool will_be_answered() noexcept {
    told_ = released_;
    return released_ == received_;
  }

  void signal(chorale::call_id now) noexcept { signal_ = {now, {}, put_}; }
  [[nodiscard]] bool is_signalled(chorale::call_id now) {
    if (std::pair{signal_.call.number, signal_.call.phase()} < std::pair{now.number, now.phase()})
      return false;
    if (signal_.call.number == now.number) require_same(signal_.call, now);
    place(signal_.behind);
    return true;
  }

  /// `write` is called once, as late as allowed. `to_flush`: the sender has to flush this put.
  void put(std::function<void()> write, bool to_flush) {
    puts_.push_back(std::move(write));
    ++put_;
    if (to_flush) to_flush_ = put_;
  }
  void notice(chorale::call_id now) { notices_.push_back({now, {}, put_}); }
  [[nodiscard]] bool has_notice() const noexcept { return !notices_.empty(); }
  void take_notice(chorale::call_id now) {
    require_same(notices_.front().call, now);
    place(notices_.front().behind);
    notices_.pop_front();
  }
  void flush() {
    place(put_);
    flushed_ = put_;
  }

  // Messages of any length, which `advance` transfers in the order of posting: short ones in blocks, long
  // ones from memory to memory when both sides have posted them.
  void post_send(chorale::call_id now, std::span<const std::byte> bytes) { sends_.push_back({now, bytes}); }
  void post_receive(chorale::call_id now, std::span<std::byte> into) { receives_.push_back({now, into}); }
  [[nodiscard]] bool has_posted_sends() const noexcept { return !sends_.empty(); }
  [[nodiscard]] bool has_posted_receives() const noexcept { return !receives_.empty(); }
  void advance() {
    for (bool moves = true; moves;) {
      moves = false;
      if (!sends_.empty() && sends_.front().bytes.size() <= block_bytes_ &&
          (sends_.front().bytes.empty() || has_room())) {
        if (!sends_.front().bytes.empty()) send(sends_.front().call, sends_.front().bytes);
        sends_.pop_front();
        moves = true;
      }
      if (receives_.empty()) continue;
      const posted<std::byte> place = receives_.front();
      if (place.bytes.empty()) {
        receives_.pop_front();
        moves = true;
      } else if (has_message()) {
        const auto index = received();
        copy(receive(place.call), place.bytes);
        static_cast<void>(release(index));
        receives_.pop_front();
        moves = true;
      } else if (!sends_.empty() && sends_.front().bytes.size() > block_bytes_) {
        require_same(sends_.front().call, place.call);
        copy(sends_.front().bytes, place.bytes);
        sends_.pop_front();
        receives_.pop_front();
        moves = true;
      }
    }
  }

  /// Describes what is left over; empty if there is nothing.
  [[nodiscard]] std::string left_over() const {
    if (received_ != sent_) return describe(sent_ - received_, "messages that were not received");
    if (released_ != received_) return describe(received_ - released_, "messages that were not given back");
    if (!sends_.empty() || !receives_.empty())
      return describe(sends_.size() + receives_.size(), "messages that were posted and not waited for");
    if (!notices_.empty()) return describe(notices_.size(), "notices that were not taken");
    if (flushed_ < to_flush_) return describe(to_flush_ - flushed_, "puts that were not flushed");
    if (placed_ != put_) return describe(put_ - placed_, "puts that nobody has looked at");
    return {};
  }

 private:
  struct block {
    chorale::call_id call;
    std::vector<std::byte> bytes;
    put_count behind = 0;
  };

  template <class Byte>
  struct posted {
    chorale::call_id call;
    std::span<Byte> bytes;
  };

  void copy(std::span<const std::byte> message, std::span<std::byte> place) const {
    if (message.size() != place.size())
      fail("sends " + std::to_string(message.size()) + " bytes to a place of " +
           std::to_string(place.size()));
    std::memcpy(place.data(), message.data(), message.size());
  }
  void place(put_count behind) {
    for (; placed_ < behind; ++placed_) {
      puts_.front()();
      puts_.pop_front();
    }
  }
  void require_same(const chorale::call_id& theirs, const chorale::call_id& mine) const {
    if (theirs.number == mine.number && theirs.signature == mine.signature) return;
    throw broken("rank " + std::to_string(to_) + " in call " + std::to_string(mine.number) +
                 " gets what rank " + std::to_string(from_) + " sent in call " +
                 std::to_string(theirs.number));
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw broken("rank " + std::to_string(from_) + " to rank " + std::to_string(to_) + ": " + what);
  }
  [[nodiscard]] std::string describe(std::uint64_t number, const char* what) const {
    return "from rank " + std::to_string(from_) + " to rank " + std::to_string(to_) + ": " +
           std::to_string(number) + " " + what;
  }

  int from_;
  int to_;
  std::size_t block_bytes_;
  std::vector<block> blocks_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t told_ = 0;      ///< of these, the releases that the receiver has reported
  std::uint64_t credited_ = 0;  ///< of these, the releases that the sender knows of
  block signal_;
  std::deque<std::function<void()>> puts_;
  put_count put_ = 0;
  put_count placed_ = 0;
  put_count flushed_ = 0;
  put_count to_flush_ = 0;
  std::deque<block> notices_;
  std::deque<posted<const std::byte>> sends_;
  std::deque<posted<std::byte>> receives_;
};

}  // namespace fake
