// SPDX-License-Identifier: Apache-2.0
// A root and members of bootstrap::tcp in one thread: bytes travel in pieces, in an order determined by a
// seed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "../../lib/bootstrap/tcp_member.hpp"
#include "../../lib/bootstrap/tcp_root.hpp"

namespace links {

using namespace chorale::bootstrap;

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

/// A member connected to a root, and the bytes in transit.
struct linked_member {
  int number;
  tcp_member member;
  tcp_bytes to_root{};
  tcp_bytes to_member{};
  bool has_joined = false;
  bool is_closed = false;
};

class virtual_links {
 public:
  virtual_links(int root, int size, std::uint64_t seed, std::string_view secret = "known")
      : root_(tcp_claim::of_this_process(root, size), 77, bytes_of(secret)), random_(seed) {}

  tcp_root& root() { return root_; }
  /// The number of the next connection.
  int next_number() { return ++connections_; }
  linked_member& at(std::size_t i) { return *links_[i]; }

  linked_member& connect(const tcp_claim& claim, std::string_view secret = "known") {
    const int number = next_number();
    root_.connected(number, "10.0.0." + std::to_string(number) + ":5", drawn_nonce());
    links_.push_back(
        std::make_unique<linked_member>(linked_member{number, {claim, bytes_of(secret), drawn_nonce()}}));
    return *links_.back();
  }
  linked_member& connect(int rank, int size) { return connect(tcp_claim::of_this_process(rank, size)); }

  /// Delivers bytes until none are in transit, whether `done` or not.
  void settle() {
    for (bool moves = true; moves;) {
      moves = false;
      for (auto& one : links_) moves = step(*one) || moves;
    }
  }
  void close(linked_member& one) {
    if (!one.is_closed) root_.closed(one.number);
    one.is_closed = true;
  }

 private:
  bool step(linked_member& one) {
    bool moves = false;
    for (auto out = one.member.outgoing(); !out.empty(); out = one.member.outgoing()) {
      one.to_root.insert(one.to_root.end(), out.begin(), out.end());
      one.member.sent(out.size());
      moves = true;
    }
    if (one.is_closed) return false;
    for (auto out = root_.outgoing(one.number); !out.empty(); out = root_.outgoing(one.number)) {
      const auto some = out.first(piece(out.size()));
      one.to_member.insert(one.to_member.end(), some.begin(), some.end());
      root_.sent(one.number, some.size());
      moves = true;
    }
    moves = deliver(one.to_root, [&](auto some) { root_.received(one.number, some); }) || moves;
    moves = deliver(one.to_member, [&](auto some) { one.member.received(some); }) || moves;
    if (one.member.has_greeted() && !one.has_joined) {
      one.has_joined = true;
      one.member.join();
      moves = true;
    }
    return moves;
  }
  std::size_t piece(std::size_t most) { return std::uniform_int_distribution<std::size_t>{1, most}(random_); }
  template <class Receive>
  bool deliver(tcp_bytes& from, const Receive& receive) {
    if (from.empty()) return false;
    const std::size_t some = piece(std::min<std::size_t>(from.size(), random_() % 4 == 0 ? from.size() : 40));
    const tcp_bytes part{from.begin(), from.begin() + static_cast<std::ptrdiff_t>(some)};
    from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(some));
    receive(std::span{part});
    return true;
  }

  tcp_root root_;
  int connections_ = 0;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<linked_member>> links_;
};

}  // namespace links
