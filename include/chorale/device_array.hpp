// Memory from the device, for what is communicated often.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <chorale/core/error.hpp>
#include <chorale/core/types.hpp>
#include <chorale/transport/concepts.hpp>
#include <chorale/transport/registration_cache.hpp>
#include <chorale/verbs/registered_buffer.hpp>

namespace chorale {

namespace detail {

/// Memory from the device of a transport, and what must end before it.
class device_block {
 public:
  device_block() = default;
  device_block(const device_block&) = delete;
  device_block& operator=(const device_block&) = delete;
  virtual ~device_block() = default;
  [[nodiscard]] virtual std::byte* data() const noexcept = 0;
};

template <class Net>
class device_block_of final : public device_block {
 public:
  device_block_of(Net& net, std::size_t bytes)
      : net_(&net), memory_(net.domain(), bytes, IBV_ACCESS_LOCAL_WRITE) {
    if constexpr (registers) {
      using exposed = decltype(net.expose(memory_.span()));
      exposed_ = std::make_shared<exposed>(net.expose(memory_.span()));
    }
  }
  ~device_block_of() override {
    exposed_.reset();
    if constexpr (registers) net_->forget(memory_.span());
  }
  [[nodiscard]] std::byte* data() const noexcept override { return memory_.data(); }

 private:
  /// Emulated operations copy: they register nothing.
  static constexpr bool registers = requires(Net & net) { net.registrations(); };

  Net* net_;
  verbs::registered_buffer memory_;
  /// Kept in use, so that the cache never gives it up.
  std::shared_ptr<void> exposed_;
};

}  // namespace detail

/// `size()` elements of T in whole pages of memory from a communicator's device, as `communicator::allocate`
/// makes it. It is registered for the communicator as long as it lives, so that no call on it has to; on
/// soft0 the peers map it, so that transfers are plain copies. Move-only. It ends before its communicator
/// does, on the same thread, and when no call is using it. Other communicators may use it as any memory.
template <element T>
class device_array {
 public:
  using value_type = T;

  device_array() = default;
  device_array(std::unique_ptr<detail::device_block> block, std::size_t count) noexcept
      : block_(std::move(block)), count_(block_ ? count : 0) {}
  device_array(device_array&& other) noexcept
      : block_(std::move(other.block_)), count_(std::exchange(other.count_, 0)) {}
  device_array& operator=(device_array&& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(count_, other.count_);
    return *this;
  }

  [[nodiscard]] T* data() const noexcept { return block_ ? reinterpret_cast<T*>(block_->data()) : nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::span<T> span() const noexcept { return {data(), count_}; }
  [[nodiscard]] T& operator[](std::size_t i) const noexcept { return data()[i]; }
  [[nodiscard]] T* begin() const noexcept { return data(); }
  [[nodiscard]] T* end() const noexcept { return data() + count_; }

 private:
  std::unique_ptr<detail::device_block> block_;
  std::size_t count_ = 0;
};

namespace detail {

template <element T, class Net>
device_array<T> allocate_from(Net& net, std::size_t count) {
  if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T))
    throw error(errc::invalid_argument, "allocate on rank " + std::to_string(net.rank()) + ": " +
                                            std::to_string(count) + " elements of " +
                                            std::to_string(sizeof(T)) + " bytes are more than there can be");
  if (count == 0) return {};
  return {std::make_unique<device_block_of<Net>>(net, count * sizeof(T)), count};
}

}  // namespace detail

}  // namespace chorale
