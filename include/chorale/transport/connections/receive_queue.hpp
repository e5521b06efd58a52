// SPDX-License-Identifier: Apache-2.0
// The receives of a rank's connections.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <chorale/verbs/device.hpp>
#include <chorale/verbs/protection_domain.hpp>
#include <chorale/verbs/queue_pair.hpp>
#include <chorale/verbs/registered_buffer.hpp>
#include <chorale/verbs/shared_receive_queue.hpp>

namespace chorale::transport {

/// Numbered receives and their message blocks of equal size. All connections share one receive queue; on a
/// device without such queues each has its own, with an equal part of the receives. Without blocks, receives
/// carry only immediate data. Not thread-safe.
class receive_queue {
 public:
  /// Distinguishes the numbers of receives from those of other requests.
  static constexpr std::uint64_t mark = std::uint64_t{1} << 63;

  /// Number and size of the receives.
  struct options {
    int ranks = 0;               ///< in the group
    std::uint32_t receives = 0;  ///< maximum for all peers; without sharing, at least 16 per peer
    std::size_t bytes = 0;       ///< of each
    bool posts = true;           ///< all receives are posted here; otherwise only those of `post_into`
  };
  /// @throws error as the verbs objects.
  receive_queue(const verbs::device& device, const verbs::protection_domain& domain, const options& o);

  /// Null if each queue pair has its own `count()` receives.
  [[nodiscard]] verbs::shared_receive_queue* shared() noexcept {
    return queue_.native() == nullptr ? nullptr : &queue_;
  }
  /// Maximum number of receives available to one sender.
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  /// How many of these are posted, or being processed: fewer than `count()` while few connections are open.
  [[nodiscard]] std::uint64_t posted() const noexcept { return pairs_.empty() ? posted_ : count_; }
  /// Receives in all queues of that many connections.
  [[nodiscard]] std::size_t count(std::size_t connections) const noexcept {
    return pairs_.empty() ? count_ : connections * count_;
  }
  [[nodiscard]] std::byte* block(std::uint64_t index) const noexcept { return first_ + index * bytes_; }

  /// The queue pair for a peer was made and can receive: posts its receives, or its part of the shared ones.
  void open(int peer, verbs::queue_pair& pair);
  /// That queue pair will be destroyed, with its receives.
  void close(int peer) noexcept;

  void post(std::uint64_t index) {
    ibv_sge place{};
    ibv_recv_wr request{};
    request.wr_id = mark | index;
    if (blocks_) {
      place = {reinterpret_cast<std::uintptr_t>(block(index)), static_cast<std::uint32_t>(bytes_), lkey_};
      request.sg_list = &place;
      request.num_sge = 1;
    }
    if (queue_.try_post_recv(request) != 0) [[unlikely]]
      post_elsewhere(index / count_, request);
  }
  /// Posts memory registered under `lkey`, at most 2 GiB, as receive `index`, for the next message of `from`.
  /// False if that rank cannot send yet.
  [[nodiscard]] bool post_into(std::uint64_t index, int from, std::span<std::byte> into, std::uint32_t lkey);

  /// Number of requests for which the queues have room now.
  [[nodiscard]] std::size_t depth() const noexcept;
  [[nodiscard]] std::size_t registered_bytes() const noexcept { return blocks_ ? blocks_->bytes() : 0; }

 private:
  /// The slow path of posting a receive: there is no shared queue, or it has failed. @throws error if the
  /// device refuses.
  void post_elsewhere(std::uint64_t peer, ibv_recv_wr& request);

  std::size_t bytes_;
  bool posts_;
  std::uint32_t count_;
  std::uint64_t of_connection_;            ///< shared receives that each connection adds, up to `count_`
  std::uint64_t connections_ = 0;          ///< open now
  std::uint64_t posted_ = 0;               ///< shared receives so far
  verbs::shared_receive_queue queue_;      ///< closed if queue pairs have their own
  std::vector<verbs::queue_pair*> pairs_;  ///< per peer, null while closed; empty with a shared queue
  std::optional<verbs::registered_buffer> blocks_;
  std::byte* first_ = nullptr;  ///< of the blocks
  std::uint32_t lkey_ = 0;
};

}  // namespace chorale::transport
