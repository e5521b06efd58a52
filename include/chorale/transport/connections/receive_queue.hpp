// The receives shared by all connections of a rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <chorale/verbs/device.hpp>
#include <chorale/verbs/protection_domain.hpp>
#include <chorale/verbs/registered_buffer.hpp>
#include <chorale/verbs/shared_receive_queue.hpp>

namespace chorale::transport {

/// A shared receive queue and its numbered message blocks of equal size. Without blocks, receives carry only
/// immediate data. Not thread-safe.
class receive_queue {
 public:
  /// Distinguishes the numbers of receives from those of other requests.
  static constexpr std::uint64_t mark = std::uint64_t{1} << 63;

  /// At most `receives` of `bytes` each, all posted unless `posts` is false. @throws error as the verbs
  /// objects.
  receive_queue(const verbs::device& device, const verbs::protection_domain& domain, std::uint32_t receives,
                std::size_t bytes, bool posts = true)
      : bytes_(bytes),
        count_(std::min(receives, static_cast<std::uint32_t>(device.attributes().max_srq_wr))),
        queue_(domain, count_) {
    if (bytes_ != 0) blocks_.emplace(domain, count_ * bytes_, IBV_ACCESS_LOCAL_WRITE);
    for (std::uint32_t i = 0; posts && i < count_; ++i) post(i);
  }

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] std::byte* block(std::uint64_t index) const noexcept {
    return blocks_->data() + index * bytes_;
  }
  void post(std::uint64_t index) {
    ibv_sge place{};
    ibv_recv_wr request{};
    request.wr_id = mark | index;
    if (blocks_) {
      place = {reinterpret_cast<std::uintptr_t>(block(index)), static_cast<std::uint32_t>(bytes_),
               blocks_->lkey()};
      request.sg_list = &place;
      request.num_sge = 1;
    }
    queue_.post_recv(request);
  }
  /// Posts memory registered under `lkey`, at most 2 GiB, as receive `index`.
  void post_into(std::uint64_t index, std::span<std::byte> into, std::uint32_t lkey) {
    ibv_sge place{reinterpret_cast<std::uintptr_t>(into.data()), static_cast<std::uint32_t>(into.size()),
                  lkey};
    ibv_recv_wr request{};
    request.wr_id = mark | index;
    request.sg_list = &place;
    request.num_sge = 1;
    queue_.post_recv(request);
  }
  [[nodiscard]] verbs::shared_receive_queue& queue() noexcept { return queue_; }
  [[nodiscard]] std::uint32_t depth() const noexcept { return queue_.depth(); }
  [[nodiscard]] std::size_t registered_bytes() const noexcept { return blocks_ ? blocks_->bytes() : 0; }

 private:
  std::size_t bytes_;
  std::uint32_t count_;
  verbs::shared_receive_queue queue_;
  std::optional<verbs::registered_buffer> blocks_;
};

}  // namespace chorale::transport
