// SPDX-License-Identifier: Apache-2.0
// An adapter of a simulated host: its identity, and the objects that programs have created on it.
#pragma once

#include <cstdint>
#include <endian.h>
#include <vector>

#include "../../verbs/device_profile.hpp"
#include "objects.hpp"
#include "regions.hpp"

namespace chorale::simulation::device {

inline constexpr std::uint32_t max_sge = 16;
inline constexpr std::uint32_t max_work_requests = 16384;
inline constexpr std::uint32_t max_inline_bytes = 1024;    ///< unless the machine allows more
inline constexpr std::uint32_t near_inline_bytes = 16384;  ///< of the simulated soft0, as of the real one
inline constexpr std::uint32_t max_completions = 1U << 22;
inline constexpr std::uint32_t max_reads = 16;
inline constexpr std::uint64_t max_message_bytes = 1ULL << 31;
inline constexpr std::uint32_t max_regions = (1U << 16) - 1;
inline constexpr std::uint32_t plenty = 1 << 24;
inline constexpr std::uint32_t grh_bytes = 40;
/// Numbers of queue pairs; lower ones belong to subnet management, `multicast_queue_pair` stands for
/// multicast.
inline constexpr std::uint32_t first_queue_pair = 0x100;
inline constexpr std::uint32_t multicast_queue_pair = 0xffffff;
/// LIDs of hosts.
inline constexpr std::uint32_t first_lid = 1;

/// Gives each object a number that is never reused: what is in flight to a destroyed object finds none, like
/// packets to a destroyed queue pair.
template <class T>
class numbered {
 public:
  /// Numbers from `first` to below `end`.
  numbered(std::uint32_t first, std::uint32_t end) noexcept : first_(first), end_(end) {}

  /// A new number; 0 if all have been used.
  std::uint32_t add(T& object) {
    if (all_.size() >= end_ - first_) return 0;
    all_.push_back(&object);
    return first_ + static_cast<std::uint32_t>(all_.size()) - 1;
  }
  void remove(std::uint32_t number) noexcept { all_[number - first_] = nullptr; }
  /// nullptr if no such object exists.
  [[nodiscard]] T* find(std::uint32_t number) const noexcept {
    return number >= first_ && number - first_ < all_.size() ? all_[number - first_] : nullptr;
  }
  /// Calls `f` for each object, in the order of their numbers. `f` may remove any.
  template <class F>
  void for_each(F f) const {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i] != nullptr) f(*all_[i]);
  }

 private:
  std::uint32_t first_;
  std::uint32_t end_;
  std::vector<T*> all_;
};

class fabric;
struct queue_pair;

/// One device with one port, whose GID table has `gid()` in row 0.
class hca {
 public:
  /// `host` is from 0; `name` is the device's.
  hca(fabric& owner, int host, const char* name) noexcept : owner_(&owner), host_(host), device_(name) {
    device_.self = this;
  }
  hca(const hca&) = delete;
  hca& operator=(const hca&) = delete;

  [[nodiscard]] fabric& owner() const noexcept { return *owner_; }
  [[nodiscard]] int host() const noexcept { return host_; }
  [[nodiscard]] std::uint16_t lid() const noexcept {
    return static_cast<std::uint16_t>(static_cast<int>(first_lid) + host_);
  }
  [[nodiscard]] ibv_gid gid() const noexcept {
    ibv_gid gid{};
    gid.global.subnet_prefix = htobe64(link_local);
    gid.global.interface_id = htobe64(first_guid + static_cast<std::uint64_t>(host_));
    return gid;
  }
  /// The entry in the list of devices.
  [[nodiscard]] ibv_device& device() noexcept { return device_.shown; }
  /// The adapter of an entry of that list.
  static hca& of(ibv_device& shown) noexcept { return *reinterpret_cast<listed&>(shown).self; }

  numbered<queue_pair> queue_pairs{first_queue_pair, multicast_queue_pair};
  numbered<completion_queue> completion_queues{1, ~std::uint32_t{0}};
  region_table regions;
  std::uint32_t qkey_violations = 0;
  bool failed = false;  ///< the adapter no longer works
  verbs::placement_order disorder =
      verbs::placement_order::ordered;  ///< chosen by a fault, whatever the profile says

 private:
  static constexpr std::uint64_t link_local = 0xfe80000000000000;
  /// Locally administered, so no vendor's; the host's number is added.
  static constexpr std::uint64_t first_guid = 0x0200'7369'6d00'0000;

  struct listed : verbs::listed_device {
    explicit listed(const char* name) noexcept : listed_device(name) {}
    hca* self = nullptr;
  };

  fabric* owner_;
  int host_;
  listed device_;
};

}  // namespace chorale::simulation::device
