// One neighbour of a rank in an exchange: what goes there, what comes from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <chorale/algorithm/exchange/manifest.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/lean_algorithm.hpp>
#include <chorale/core/neighbours.hpp>

namespace chorale::exchange {

/// Memory of straight messages, kept registered while it lives; nothing on transports that have none.
template <mailbox_transport Net>
struct straight_memory {
  remote_region expose(Net&, std::span<std::byte>) { return {}; }
  void lend(Net&, std::span<const std::byte>) {}
};
template <one_sided_transport Net>
struct straight_memory<Net> {
  std::vector<decltype(std::declval<Net&>().expose(std::span<std::byte>{}))> exposed;
  std::vector<decltype(std::declval<Net&>().lend(std::span<const std::byte>{}))> lent;

  remote_region expose(Net& net, std::span<std::byte> bytes) {
    exposed.push_back(net.expose(bytes));
    return exposed.back().region();
  }
  void lend(Net& net, std::span<const std::byte> bytes) { lent.push_back(net.lend(bytes)); }
};

/// A stream of bytes that lie in several places, read or written in pieces from front to end.
template <class Byte>
class scattered {
 public:
  void add(std::span<Byte> part) {
    if (part.empty()) return;
    parts_.push_back(part);
    bytes_ += part.size();
  }
  [[nodiscard]] std::size_t total() const noexcept { return bytes_; }
  /// Calls `use(part)` for the next `count` bytes, as they lie together.
  template <class Use>
  void next(std::size_t count, Use&& use) {
    while (count > 0) {
      const std::span<Byte> part = parts_[index_].subspan(at_);
      const std::size_t length = std::min(part.size(), count);
      use(part.first(length));
      count -= length;
      at_ += length;
      if (at_ == parts_[index_].size()) {
        ++index_;
        at_ = 0;
      }
    }
  }

 private:
  std::vector<std::span<Byte>> parts_;
  std::size_t bytes_ = 0;
  std::size_t index_ = 0;
  std::size_t at_ = 0;
};

/// What is between this rank and `peer`. Each sends the other a stream, the manifest and behind it the
/// messages that go by blocks, if it sends messages or takes long ones, for which it says where they go.
template <mailbox_transport Net>
class neighbour {
 public:
  explicit neighbour(int peer) noexcept : peer_(peer) {}

  void add(const outgoing& message) { sends_.push_back(message); }
  void add(const incoming& message) { takes_.push_back(message); }

  /// When all messages have been added.
  void begin(Net& net) {
    const std::size_t manifest = manifest_bytes(sends_.size() + takes_.size());
    manifest_.resize(manifest);
    out_.add(manifest_);
    std::size_t at = sizeof(manifest_header);
    bool takes_straight = false;
    bool sends_straight = false;
    const auto write = [&](const manifest_entry& e) {
      std::memcpy(manifest_.data() + at, &e, sizeof e);
      at += sizeof e;
    };
    for (const outgoing& message : sends_) {
      write({message.bytes.size(), 0, 0, message.type});
      if (is_straight(net, message.bytes.size())) {
        memory_.lend(net, message.bytes);
        sends_straight = true;
      } else if (!transfer::is_whole(net, message.bytes.size())) {
        out_.add(message.bytes);
      }
    }
    for (const incoming& message : takes_) {
      remote_region here;
      if (is_straight(net, message.bytes.size())) {
        here = memory_.expose(net, message.bytes);
        takes_straight = true;
        ++notices_;
      } else if (!transfer::is_whole(net, message.bytes.size())) {
        in_.add(message.bytes);
      }
      write({message.bytes.size(), here.address, here.key, message.type});
    }
    const manifest_header h{out_.total(), static_cast<std::uint32_t>(sends_.size()),
                            static_cast<std::uint32_t>(takes_.size())};
    std::memcpy(manifest_.data(), &h, sizeof h);
    out_bytes_ = !sends_.empty() || takes_straight ? out_.total() : 0;
    in_bytes_ = !takes_.empty() || sends_straight ? manifest + in_.total() : 0;
    if (in_bytes_ != 0) theirs_.emplace(net.rank(), peer_, sends_, takes_, in_bytes_);
  }

  [[nodiscard]] int peer() const noexcept { return peer_; }
  [[nodiscard]] std::size_t out_bytes() const noexcept { return out_bytes_; }
  [[nodiscard]] std::size_t in_bytes() const noexcept { return in_bytes_; }
  /// Notices of straight messages that will come.
  [[nodiscard]] std::size_t notices() const noexcept { return notices_; }

  /// The next piece of the stream to the peer; `scratch` holds it where its bytes do not lie together.
  [[nodiscard]] std::span<const std::byte> next(std::size_t count, std::vector<std::byte>& scratch) {
    std::span<const std::byte> only;
    scratch.clear();
    out_.next(count, [&](std::span<const std::byte> part) {
      if (part.size() == count)
        only = part;
      else
        scratch.insert(scratch.end(), part.begin(), part.end());
    });
    return only.empty() ? std::span<const std::byte>{scratch} : only;
  }

  /// A piece of the stream of the peer, from byte `at` on, of blocks of `block` bytes. True if the manifest
  /// ends in it: then straight messages may go. @throws error errc::mismatch.
  template <arrived_message Message>
  [[nodiscard]] bool accept(const Net& net, call_id now, const Message& message, std::size_t at,
                            std::size_t block) {
    const bool was_complete = theirs_->is_complete();
    // The manifest says better than a wrong length what does not fit.
    auto data =
        theirs_->take(transfer::at_least(net, peer_, now, message, at == 0 ? sizeof(manifest_header) : 0));
    static_cast<void>(transfer::exact(net, peer_, now, message, std::min(block, in_bytes_ - at)));
    in_.next(data.size(), [&](std::span<std::byte> part) {
      copy_bytes(part.data(), data.data(), part.size());
      data = data.subspan(part.size());
    });
    return !was_complete && theirs_->is_complete();
  }

  /// Begins to put the messages that go straight. Precondition: the manifest is complete.
  task<> put_straight(Net& net, call_id now) {
    if constexpr (one_sided_transport<Net>) {
      std::size_t next = 0;
      for (std::size_t i = 0; i < sends_.size(); ++i) {
        if (!is_straight(net, sends_[i].bytes.size())) continue;
        co_await net.put_notified(theirs_->place_of(i), 0, memory_.lent[next], sends_[i].bytes, now);
        ++next;
      }
    }
    co_return;
  }

  /// Adds the messages that are left to the transport. Precondition: the streams have come and gone.
  void add_whole(const Net& net, std::vector<transfer::going>& out, std::vector<transfer::coming>& in) const {
    for (const outgoing& message : sends_)
      if (transfer::is_whole(net, message.bytes.size())) out.push_back({peer_, message.bytes});
    for (const incoming& message : takes_)
      if (transfer::is_whole(net, message.bytes.size())) in.push_back({peer_, message.bytes});
  }

 private:
  static bool is_straight(const Net& net, std::size_t bytes) noexcept {
    return transfer::is_zero_copy(net, bytes);
  }

  int peer_;
  std::vector<outgoing> sends_;
  std::vector<incoming> takes_;
  std::vector<std::byte> manifest_;
  scattered<const std::byte> out_;
  scattered<std::byte> in_;
  std::size_t out_bytes_ = 0;
  std::size_t in_bytes_ = 0;
  std::size_t notices_ = 0;
  std::optional<expected_manifest> theirs_;
  straight_memory<Net> memory_;
};

}  // namespace chorale::exchange
