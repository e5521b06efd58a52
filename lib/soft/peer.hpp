// Another process of the fabric, as this one sees it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <sys/types.h>
#include <vector>

#include "fabric.hpp"
#include "layout.hpp"

namespace chorale::soft {

/// Its segment stays mapped until this process leaves the fabric; once the peer is dead the mapping is
/// replaced by zeroes, so that its memory goes back to the system and late readers see no QP.
struct peer {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  pid_t pid = 0;
  std::uint64_t start_time = 0;
  bool self = false;
  segment* base = nullptr;
  std::atomic<bool> dead{false};
  std::atomic<bool> must_bounce{false};  ///< process_vm_* is refused
  unique_fd pidfd;                       ///< readable when the process has ended
  unique_fd life;                        ///< hangs up when it has ended or called exec()

  ~peer();

  /// This process's mapping of an allocation of the peer; nullptr if it cannot be had.
  unsigned char* map_memory(int fd, std::uint64_t inode, std::uint64_t bytes) noexcept;
  /// True if its process has ended or called exec(), known or not. For where copies into it work, but one
  /// failed.
  bool gone() noexcept;
  /// True if the kernel does not tell of its end.
  [[nodiscard]] bool unwatched() const noexcept {
    return !dead.load() && (pidfd.get() < 0 || life.get() < 0);
  }
  /// Wakes its service thread. Where there is no descriptor for that, this process's own one tries again.
  void wake() noexcept;
  [[nodiscard]] bool owes_wake() const noexcept { return owes_wake_.load(std::memory_order_relaxed); }
  /// Makes it check for work that this process has left for it.
  void call_attention() noexcept {
    base->attention.store(1, std::memory_order_seq_cst);
    wake();
  }
  /// Writes a completion channel's event. False if it could not: its owner has to.
  [[nodiscard]] bool post_event(int fd, std::uint64_t inode, std::uint64_t name) noexcept;
  /// Replaces everything mapped by zeroes, and closes what was opened.
  void bury() noexcept;
  /// After fork(), in the child: closes and forgets what is the parent's.
  void abandon() noexcept;
  /// For the fork handlers, which hold it over the fork.
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  struct mapping {
    int fd;
    std::uint64_t inode;
    std::uint64_t bytes;
    unsigned char* address;
  };
  struct pipe_end {
    int fd;
    std::uint64_t inode;
    unique_fd opened;
  };
  int pipe_to(int fd, std::uint64_t inode) noexcept;

  std::atomic<bool> owes_wake_{false};
  std::mutex mutex_;
  std::vector<mapping> mappings_;
  std::vector<pipe_end> pipes_;
  static constexpr std::size_t fewest_pipes_kept = 8;
  std::size_t pipes_kept_ = fewest_pipes_kept;  ///< so many are not looked through for stale ones
};

/// Maps a peer's segment. nullptr if there is no such process or its segment is not sound; then `why` is 0,
/// or the errno if it is this process that cannot (descriptors, addresses, rights).
peer* connect_peer(const member& entry, std::uint32_t slot, int& why) noexcept;

}  // namespace chorale::soft
