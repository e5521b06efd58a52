// SPDX-License-Identifier: Apache-2.0
// Messages, payloads and memory as the ghost transport hands them out.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <chorale/transport/concepts.hpp>

#include "shadow.hpp"

namespace chorale::simulation::ghosts {

class world;
struct flight;

/// A message that has arrived; its destructor gives the block back to the sender.
class arrival_of_ghost {
 public:
  arrival_of_ghost(world& in, const flight& message, std::span<const std::byte> bytes) noexcept
      : in_(&in), message_(&message), bytes_(bytes) {}
  arrival_of_ghost(arrival_of_ghost&& other) noexcept
      : in_(std::exchange(other.in_, nullptr)), message_(other.message_), bytes_(other.bytes_) {}
  arrival_of_ghost& operator=(arrival_of_ghost&& other) noexcept {
    std::swap(in_, other.in_);
    std::swap(message_, other.message_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~arrival_of_ghost() { release(); }

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  void release() noexcept;

 private:
  world* in_;
  const flight* message_;
  std::span<const std::byte> bytes_;
};

/// A payload for several peers, copied only once.
class shared_ghost {
 public:
  explicit shared_ghost(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  shared_ghost(const shared_ghost&) = delete;
  shared_ghost& operator=(const shared_ghost&) = delete;
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// True at the first call only.
  [[nodiscard]] bool copies() noexcept { return !std::exchange(is_copied_, true); }

 private:
  std::span<const std::byte> bytes_;
  bool is_copied_ = false;
};

/// Memory in which an algorithm stores payloads during a call: a part of the shadow that all ranks share, a
/// different one for each scratch that a rank holds at a time.
class scratch_ghost {
 public:
  /// Takes the lowest part that is free in `taken`.
  scratch_ghost(shadow& of, std::uint32_t& taken, std::size_t bytes)
      : taken_(&taken), place_(std::countr_one(taken)), memory_(of.part(place_, bytes)) {
    taken |= 1U << place_;
  }
  scratch_ghost(scratch_ghost&& other) noexcept
      : taken_(std::exchange(other.taken_, nullptr)), place_(other.place_), memory_(other.memory_) {}
  scratch_ghost& operator=(scratch_ghost&& other) noexcept {
    std::swap(taken_, other.taken_);
    std::swap(place_, other.place_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~scratch_ghost() {
    if (taken_ != nullptr) *taken_ &= ~(1U << place_);
  }

  [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_; }

 private:
  std::uint32_t* taken_;
  int place_;
  std::span<std::byte> memory_;
};

/// Registered memory: registration always succeeds and is free, as with a hit in a registration cache.
class registered_ghost {
 public:
  registered_ghost(int owner, std::span<const std::byte> memory, std::uint32_t key = 0) noexcept
      : region_{reinterpret_cast<std::uintptr_t>(memory.data()), memory.size(), key, owner} {}
  [[nodiscard]] remote_region region() const noexcept { return region_; }

 private:
  remote_region region_;
};

/// Memory that an algorithm keeps between calls: the shadow that all ranks share, unless another rank has
/// mapped it. Its key is its number.
class kept_ghost {
 public:
  kept_ghost(world& in, int owner, std::size_t bytes);
  [[nodiscard]] std::span<std::byte> memory() const noexcept;
  [[nodiscard]] remote_region region() const noexcept { return exposure_.region(); }
  [[nodiscard]] const registered_ghost& exposure() const noexcept { return exposure_; }

 private:
  world* in_;
  std::span<std::byte> memory_;
  registered_ghost exposure_;
};

/// Kept memory of a rank of the same host.
class mapped_ghost {
 public:
  explicit mapped_ghost(std::span<std::byte> memory) noexcept : memory_(memory) {}
  [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_; }

 private:
  std::span<std::byte> memory_;
};

/// How a rank accesses words of mapped memory.
class ghost_words {
 public:
  ghost_words() = default;
  ghost_words(world& in, int rank) noexcept : in_(&in), rank_(rank) {}
  [[nodiscard]] std::uint64_t load(std::uint64_t& word) const noexcept;
  void store(std::uint64_t& word, std::uint64_t value) const noexcept;
  [[nodiscard]] std::uint64_t add(std::uint64_t& word, std::uint64_t value) const noexcept;

 private:
  world* in_ = nullptr;
  int rank_ = 0;
};

}  // namespace chorale::simulation::ghosts
