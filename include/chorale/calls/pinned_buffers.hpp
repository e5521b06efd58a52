// SPDX-License-Identifier: Apache-2.0
// Registrations of the buffers of a plan.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <chorale/core/error.hpp>
#include <chorale/transport/concepts.hpp>
#include <chorale/transport/memory/registration_cache.hpp>

namespace chorale::calls {

/// True for transports whose algorithms register the user's memory and that keep registrations between calls.
template <class Net>
concept keeps_registrations =
    one_sided_transport<Net> && registering_transport<Net> && requires(const Net& net) {
      { net.registration_kept() } -> std::same_as<transport::registration_guarantee>;
    };

/// Holds the registrations of a plan's buffers, so that the cache does not drop them between two starts. Does
/// nothing where it would not help: on transports without a cache, if each operation registers again, for
/// buffers below the zero-copy threshold, which are copied (unless the sender of an exchange chooses
/// otherwise), and for buffers that the device refuses, which each start copies. The transport must outlive
/// it. Move-only.
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

  /// Registers a buffer that calls read.
  void read(std::span<const std::byte> buffer) {
    keep(buffer, [&] { return net_->lend(buffer); });
  }
  /// Registers a buffer that calls write, or read and write.
  void write(std::span<std::byte> buffer) {
    keep(buffer, [&] { return net_->expose(buffer); });
  }

 private:
  template <class Enter>
  void keep(std::span<const std::byte> buffer, const Enter& enter) {
    if (!does_ || buffer.size() < least_bytes_) return;
    try {
      kept_.push_back(enter().beyond_calls());
    } catch (const error&) {
      // The device refuses the buffer, so each start copies it.
    }
  }

  Net* net_;
  bool does_;
  std::size_t least_bytes_;
  std::vector<std::remove_cvref_t<decltype(std::declval<Net&>().lend(std::span<const std::byte>{}))>> kept_;
};

}  // namespace chorale::calls
