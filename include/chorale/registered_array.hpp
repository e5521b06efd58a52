// SPDX-License-Identifier: Apache-2.0
// Registered host memory, for buffers that are communicated often.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <chorale/core/call.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/origin.hpp>
#include <chorale/core/types.hpp>
#include <chorale/transport/concepts.hpp>
#include <chorale/transport/endpoint/entry.hpp>
#include <chorale/transport/memory/dependents.hpp>
#include <chorale/transport/memory/registration_cache.hpp>
#include <chorale/transport/wire/opened_device.hpp>
#include <chorale/verbs/registered_buffer.hpp>

namespace chorale {

namespace detail {

/// Owns host memory that is registered with the device of a transport.
class registered_block {
 public:
  registered_block() = default;
  registered_block(const registered_block&) = delete;
  registered_block& operator=(const registered_block&) = delete;
  virtual ~registered_block() = default;
  [[nodiscard]] virtual std::byte* data() const noexcept = 0;
};

/// A block registered for `Net` until the block or the transport ends. It keeps the device open.
template <class Net>
class registered_block_of final : public registered_block {
 public:
  registered_block_of(Net& net, std::size_t bytes)
      : net_(&net),
        opened_(net.core().port().opened()),
        memory_(opened_->domain, bytes, IBV_ACCESS_LOCAL_WRITE),
        listed_(net.core().dependent_objects(), [this] { let_go(); }) {
    if constexpr (registers) {
      using exposed = decltype(net.expose(memory_.span()));
      exposed_ = std::make_shared<exposed>(net.expose(memory_.span()).beyond_calls());
    }
  }
  ~registered_block_of() override {
    let_go();
    transport::registration_cache::note_given_back(memory_.data(), memory_.bytes());
  }
  [[nodiscard]] std::byte* data() const noexcept override { return memory_.data(); }

 private:
  /// Emulated one-sided operations copy and need no registration.
  static constexpr bool registers = registering_transport<Net>;

  void let_go() noexcept {
    if (net_ == nullptr) return;
    exposed_.reset();
    if constexpr (registers) net_->forget(memory_.span());
    net_ = nullptr;
  }

  Net* net_;
  std::shared_ptr<const transport::opened_device> opened_;
  verbs::registered_buffer memory_;
  /// Holding the registration keeps the cache from evicting it.
  std::shared_ptr<void> exposed_;
  transport::dependents::entry listed_;
};

}  // namespace detail

/// `size()` elements of type Element in whole pages of host memory, made by `communicator::allocate`. The
/// memory is registered for the communicator as long as both live, so that no call has to register it; on
/// soft0 the peers map it, so that transfers are plain copies. Move-only. It is ordinary memory for other
/// communicators, and after its own communicator has ended; it keeps the device open. Destroy it on its
/// communicator's thread (on any thread once the communicator has ended), and not while a call uses it.
template <element Element>
class registered_array {
 public:
  using value_type = Element;

  registered_array() = default;
  /// For `communicator::allocate`, which constructs arrays.
  registered_array(detail::process_bound_ptr<detail::registered_block> block, std::size_t count) noexcept
      : block_(std::move(block)), count_(block_ ? count : 0) {}
  registered_array(registered_array&& other) noexcept
      : block_(std::move(other.block_)), count_(std::exchange(other.count_, 0)) {}
  registered_array& operator=(registered_array&& other) noexcept {
    if (this == &other) return *this;
    block_ = std::move(other.block_);
    count_ = std::exchange(other.count_, 0);
    return *this;
  }

  /// Null if there are no elements.
  [[nodiscard]] Element* data() const noexcept {
    return block_ ? reinterpret_cast<Element*>(block_->data()) : nullptr;
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::span<Element> span() const noexcept { return {data(), count_}; }  ///< All elements.
  /// Precondition: i < size().
  [[nodiscard]] Element& operator[](std::size_t i) const noexcept { return data()[i]; }
  [[nodiscard]] Element* begin() const noexcept { return data(); }
  [[nodiscard]] Element* end() const noexcept { return data() + count_; }

 private:
  detail::process_bound_ptr<detail::registered_block> block_;
  std::size_t count_ = 0;
};

namespace detail {

/// @throws error naming the rank: errc::invalid_argument if `count` is too large; as
/// verbs::registered_buffer.
template <element Element, class Net>
registered_array<Element> allocate_from(Net& net, std::size_t count) {
  const auto call = [&] { return "allocate on rank " + std::to_string(net.rank()) + ": "; };
  if (count > static_cast<std::size_t>(-1) / 2 / sizeof(Element))
    throw error(errc::invalid_argument, call() + std::to_string(count) + " elements of " +
                                            std::to_string(sizeof(Element)) +
                                            " bytes are more than there can be");
  if (count == 0) return {};
  try {
    return {process_bound_ptr<registered_block>{new registered_block_of<Net>{net, count * sizeof(Element)}},
            count};
  } catch (const error& e) {
    throw error(e.code(), call() + e.reason(), e.ranks());
  }
}
/// The same, refused inside a call of the communicator.
template <element Element, class Net>
registered_array<Element> allocate_outside(Net& net, std::size_t count) {
  const transport::occupancy::entry inside{net.core().use(), operation::none};
  return detail::allocate_from<Element>(net, count);
}

}  // namespace detail

}  // namespace chorale
