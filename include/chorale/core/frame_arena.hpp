// SPDX-License-Identifier: Apache-2.0
// Memory for coroutine frames, recycled by size.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace chorale {

/// Recycles the coroutine frames of one communicator's algorithms: after the first call of each algorithm,
/// calls allocate nothing. Frames over 4 KiB come from the heap each time. Not thread-safe: frames must be
/// freed on the thread that uses the arena, and before it ends.
class frame_arena {
 public:
  frame_arena() = default;
  frame_arena(const frame_arena&) = delete;
  frame_arena& operator=(const frame_arena&) = delete;
  ~frame_arena() {
    for (block* list : free_) {
      while (list != nullptr) {
        block* next = list->next;
        ::operator delete(list);
        list = next;
      }
    }
  }

  /// Memory for a frame of `bytes`; the frame remembers its arena (nullptr: the heap).
  static void* allocate(frame_arena* arena, std::size_t bytes) {
    const std::size_t total = bytes + sizeof(header);
    const std::size_t bucket = (total + granule - 1) / granule;
    void* raw = nullptr;
    if (arena != nullptr && bucket < buckets && arena->free_[bucket] != nullptr) {
      raw = arena->free_[bucket];
      arena->free_[bucket] = arena->free_[bucket]->next;
    } else {
      raw = ::operator new(bucket* granule);
    }
    auto* h = new (raw) header{arena, bucket};
    return h + 1;
  }

  static void deallocate(void* frame) noexcept {
    header* h = static_cast<header*>(frame) - 1;
    frame_arena* arena = h->arena;
    const std::size_t bucket = h->bucket;
    if (arena == nullptr || bucket >= buckets) {
      ::operator delete(h);
      return;
    }
    auto* b = new (h) block{arena->free_[bucket]};
    arena->free_[bucket] = b;
  }

  /// Records that a task was destroyed without being awaited; `frame` is its frame.
  static void note_forgotten(void* frame) noexcept {
    if (frame_arena* arena = (static_cast<header*>(frame) - 1)->arena) arena->note_forgotten();
  }
  void note_forgotten() noexcept { ++unawaited_; }
  /// Awaitable operations that are not tasks are counted from construction until they are awaited: cheaper
  /// than a destructor, which would add an exit path to every await.
  void note_made() noexcept { ++unawaited_; }
  void note_awaited() noexcept { --unawaited_; }
  /// True if something was never awaited. Precondition: each awaitable is awaited at most once.
  [[nodiscard]] bool has_forgotten() const noexcept { return unawaited_ != 0; }

 private:
  static constexpr std::size_t granule = 128;
  static constexpr std::size_t buckets = 33;
  struct alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) header {
    frame_arena* arena;
    std::size_t bucket;
  };
  struct block {
    block* next;
  };
  std::array<block*, buckets> free_{};
  std::size_t unawaited_ = 0;
};

}  // namespace chorale
