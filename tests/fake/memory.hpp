// SPDX-License-Identifier: Apache-2.0
// Registered memory of ranks, and checks of its use.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <chorale/core/places.hpp>
#include <chorale/core/remote_region.hpp>
#include <chorale/transport/concepts.hpp>

#include "lane.hpp"

namespace fake {

/// How registered memory may be used; each value includes those before it.
enum class access { lent, offered, exposed };

/// How memory is registered: for which use, and by or for which peers.
struct permission {
  access how;
  chorale::peer_set peers = chorale::peer_set::all;
  auto operator<=>(const permission&) const = default;
};

/// All registrations of all ranks. Any access must lie within a current registration that allows it.
class registry {
 public:
  /// `keeps_keys`: memory registered again in the same way gets the same key, as with a registration cache;
  /// otherwise each key is new. `layout`: where the ranks are; must outlive this.
  registry(bool keeps_keys, const chorale::places& layout) : keeps_keys_(keeps_keys), layout_(layout) {}

  [[nodiscard]] std::uint32_t add(int owner, std::span<const std::byte> memory, permission allowed) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
    const std::tuple which{owner, begin, memory.size(), allowed};
    auto [known, is_new] = keys_.try_emplace(which, 0);
    if (is_new || !keeps_keys_) {
      entries_.push_back({owner, begin, memory.size(), allowed, 0});
      known->second = static_cast<std::uint32_t>(entries_.size());
    }
    ++entry(known->second).users;
    return known->second;
  }
  void remove(std::uint32_t key) noexcept { --entry(key).users; }
  void add_scratch(std::span<const std::byte> memory) { scratch_.insert(memory.data()); }
  void remove_scratch(std::span<const std::byte> memory) noexcept { scratch_.erase(memory.data()); }
  /// Whether it is the start of temporary memory of a call.
  [[nodiscard]] bool is_scratch(std::span<const std::byte> memory) const {
    return scratch_.contains(memory.data());
  }

  /// The `bytes` bytes from `address` on in memory of `owner` registered under `key`, for a copy from or to
  /// rank `peer`. @throws broken, which names `what`, if this use is not allowed.
  [[nodiscard]] std::span<std::byte> checked(const std::string& what, int owner, int peer, std::uint32_t key,
                                             std::uint64_t address, std::size_t bytes, access needed) const {
    if (key == 0 || key > entries_.size()) refuse(what, owner, "no such key");
    const registered& memory = entries_[key - 1];
    if (memory.owner != owner) refuse(what, owner, "the key is another rank's");
    if (memory.users == 0) refuse(what, owner, "it is not registered any more");
    if (memory.allowed.how < needed) refuse(what, owner, "it was not registered for that");
    const auto reached =
        layout_.of(owner) == layout_.of(peer) ? chorale::peer_set::near : chorale::peer_set::far;
    if (owner != peer && memory.allowed.peers != chorale::peer_set::all && memory.allowed.peers != reached)
      refuse(what, owner, "it was registered for other peers");
    if (address < memory.begin || address - memory.begin > memory.bytes ||
        bytes > memory.bytes - (address - memory.begin))
      refuse(what, owner, "outside of what was registered");
    return {reinterpret_cast<std::byte*>(address), bytes};
  }

 private:
  struct registered {
    int owner;
    std::uintptr_t begin;
    std::size_t bytes;
    permission allowed;
    int users;
  };

  registered& entry(std::uint32_t key) noexcept { return entries_[key - 1]; }
  [[noreturn]] static void refuse(const std::string& what, int owner, const char* why) {
    throw broken(what + ": memory of rank " + std::to_string(owner) + ": " + why);
  }

  bool keeps_keys_;
  const chorale::places& layout_;
  std::map<std::tuple<int, std::uintptr_t, std::size_t, permission>, std::uint32_t> keys_;
  std::vector<registered> entries_;  ///< by key, from 1
  std::set<const std::byte*> scratch_;
};

/// Which memory of its callers a device refuses to register.
enum class refusal { none, some, all };

/// Memory registered during the object's lifetime.
class registered_span {
 public:
  registered_span(registry& all, int owner, std::span<const std::byte> memory, permission allowed)
      : all_(&all),
        region_{reinterpret_cast<std::uintptr_t>(memory.data()), memory.size(),
                all.add(owner, memory, allowed), owner} {}
  registered_span(registered_span&& other) noexcept
      : all_(std::exchange(other.all_, nullptr)), region_(other.region_), is_kept_(other.is_kept_) {}
  registered_span& operator=(registered_span&& other) noexcept {
    std::swap(all_, other.all_);
    std::swap(region_, other.region_);
    std::swap(is_kept_, other.is_kept_);
    return *this;
  }
  ~registered_span() {
    if (all_ != nullptr) all_->remove(region_.key);
  }
  [[nodiscard]] chorale::remote_region region() const noexcept { return region_; }
  /// Memory kept by an algorithm: puts from it need not be flushed.
  [[nodiscard]] bool is_kept() const noexcept { return is_kept_; }
  void set_kept() noexcept { is_kept_ = true; }

 private:
  registry* all_;
  chorale::remote_region region_;
  bool is_kept_ = false;
};

/// Memory kept by an algorithm, exposed during the object's lifetime.
class kept_memory {
 public:
  kept_memory(registry& all, int owner, std::size_t bytes, chorale::peer_set peers)
      : memory_(bytes), exposure_(all, owner, memory_, {access::exposed, peers}) {
    exposure_.set_kept();
  }
  [[nodiscard]] std::span<std::byte> memory() const noexcept {
    return {const_cast<std::byte*>(memory_.data()), memory_.size()};
  }
  [[nodiscard]] chorale::remote_region region() const noexcept { return exposure_.region(); }
  [[nodiscard]] const registered_span& exposure() const noexcept { return exposure_; }

 private:
  std::vector<std::byte> memory_;
  registered_span exposure_;
};

/// Temporary memory of a call, filled with a pattern so that reading it before writing gives wrong results.
/// No device refuses it.
class scratch_memory {
 public:
  scratch_memory(registry& all, std::size_t bytes)
      : all_(&all), memory_(std::make_unique<std::byte[]>(bytes)), bytes_(bytes) {
    std::fill_n(memory_.get(), bytes, std::byte{0xa5});
    all.add_scratch(memory());
  }
  scratch_memory(scratch_memory&&) = default;
  scratch_memory& operator=(scratch_memory&& other) noexcept {
    std::swap(all_, other.all_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~scratch_memory() {
    if (memory_) all_->remove_scratch(memory());
  }
  [[nodiscard]] std::span<std::byte> memory() const noexcept { return {memory_.get(), bytes_}; }

 private:
  registry* all_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_;
};

}  // namespace fake
