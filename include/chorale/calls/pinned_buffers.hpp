// Registrations of the buffers of a plan.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <chorale/transport/concepts.hpp>
#include <chorale/transport/registration_cache.hpp>

namespace chorale::calls {

/// True of transports whose algorithms register the user's memory and whose registrations are kept from call
/// to call.
template <class Net>
concept keeps_registrations =
    one_sided_transport<Net> && registering_transport<Net> && requires(const Net& net) {
      { net.registration_kept() } -> std::same_as<transport::registration_guarantee>;
    };

/// Keeps the registrations of buffers in use as long as it lives, so that the cache does not give them up
/// between two starts of a plan. Does nothing where no call registers a buffer: on transports without a
/// cache, if registrations are made for each operation, and for buffers that are always copied. It ends
/// before the transport. Move-only.
template <class Net>
class pinned_buffers {
 public:
  explicit pinned_buffers(Net&) noexcept {}
  void read(std::span<const std::byte>) noexcept {}
  void write(std::span<std::byte>) noexcept {}
};

template <keeps_registrations Net>
class pinned_buffers<Net> {
 public:
  explicit pinned_buffers(Net& net) noexcept
      : net_(&net),
        does_(net.registration_kept() != transport::registration_guarantee::per_operation),
        least_bytes_(std::max<std::size_t>(net.zero_copy_bytes(), 1)) {}

  /// What calls read. @throws error as verbs::memory_region, as do calls that register.
  void read(std::span<const std::byte> buffer) {
    if (does_ && buffer.size() >= least_bytes_) kept_.push_back(net_->lend(buffer).beyond_calls());
  }
  /// What calls write, or write and read.
  void write(std::span<std::byte> buffer) {
    if (does_ && buffer.size() >= least_bytes_) kept_.push_back(net_->expose(buffer).beyond_calls());
  }

 private:
  Net* net_;
  bool does_;
  std::size_t least_bytes_;
  std::vector<std::remove_cvref_t<decltype(std::declval<Net&>().lend(std::span<const std::byte>{}))>> kept_;
};

}  // namespace chorale::calls
