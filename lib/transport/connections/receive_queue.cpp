// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <chorale/transport/connections/receive_queue.hpp>

namespace chorale::transport {
namespace {

/// Enough that a peer seldom finds no receive, which makes its device wait for hundreds of microseconds
/// (RNR).
constexpr std::uint32_t fewest_of_a_pair = 16;
/// What a peer may send before it is answered: a block for each of 16 messages, and some words.
constexpr std::uint64_t fewest_of_connection = 32;

bool shares_receives(const verbs::device& device) noexcept {
  return device.attributes().max_srq > 0 && device.attributes().max_srq_wr > 0;
}

/// The share of one connection in the receives of the rank.
std::uint32_t part_of_each(const receive_queue::options& o) noexcept {
  const auto peers = static_cast<std::uint32_t>(std::max(1, o.ranks - 1));
  return std::max((o.receives + peers - 1) / peers, fewest_of_a_pair);
}

std::uint32_t count_for(const verbs::device& device, const receive_queue::options& o) noexcept {
  const auto& limits = device.attributes();
  return shares_receives(device)
             ? std::min(o.receives, static_cast<std::uint32_t>(limits.max_srq_wr))
             : std::min(part_of_each(o), static_cast<std::uint32_t>(std::max(1, limits.max_qp_wr)));
}

}  // namespace

receive_queue::receive_queue(const verbs::device& device, const verbs::protection_domain& domain,
                             const options& o)
    : bytes_(o.bytes),
      posts_(o.posts),
      count_(count_for(device, o)),
      of_connection_(std::max<std::uint64_t>(part_of_each(o), fewest_of_connection)) {
  if (shares_receives(device))
    queue_ = verbs::shared_receive_queue(domain, count_);
  else
    pairs_.resize(static_cast<std::size_t>(o.ranks));
  if (bytes_ != 0) {
    blocks_.emplace(domain, std::max<std::size_t>(1, pairs_.size()) * count_ * bytes_,
                    IBV_ACCESS_LOCAL_WRITE);
    first_ = blocks_->data();
    lkey_ = blocks_->lkey();
  }
}

void receive_queue::open(int peer, verbs::queue_pair& pair) {
  if (pairs_.empty()) {
    const auto wanted = std::min<std::uint64_t>((connections_ + 1) * of_connection_, count_);
    for (; posts_ && posted_ < wanted; ++posted_) post(posted_);
    ++connections_;
    return;
  }
  pairs_[static_cast<std::size_t>(peer)] = &pair;
  const std::uint64_t first = static_cast<std::uint64_t>(peer) * count_;
  for (std::uint32_t i = 0; posts_ && i < count_; ++i) post(first + i);
}

void receive_queue::close(int peer) noexcept {
  if (pairs_.empty())
    --connections_;
  else
    pairs_[static_cast<std::size_t>(peer)] = nullptr;
}

void receive_queue::post_elsewhere(std::uint64_t peer, ibv_recv_wr& request) {
  // Posts again, to throw the error with its reason.
  if (pairs_.empty()) return queue_.post_recv(request);
  // A closed connection has no pair: `open` posts all its receives.
  if (verbs::queue_pair* const pair = pairs_[peer]) pair->post_recv(request);
}

bool receive_queue::post_into(std::uint64_t index, int from, std::span<std::byte> into, std::uint32_t lkey) {
  const auto peer = static_cast<std::size_t>(from);
  if (!pairs_.empty() && pairs_[peer] == nullptr) return false;
  ibv_sge place{reinterpret_cast<std::uintptr_t>(into.data()), static_cast<std::uint32_t>(into.size()), lkey};
  ibv_recv_wr request{};
  request.wr_id = mark | index;
  request.sg_list = &place;
  request.num_sge = 1;
  if (pairs_.empty())
    queue_.post_recv(request);
  else
    pairs_[peer]->post_recv(request);
  return true;
}

std::size_t receive_queue::depth() const noexcept {
  if (pairs_.empty()) return queue_.depth();
  const auto closed = std::count(pairs_.begin(), pairs_.end(), nullptr);
  return count(pairs_.size() - static_cast<std::size_t>(closed));
}

}  // namespace chorale::transport
