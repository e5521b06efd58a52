// SPDX-License-Identifier: Apache-2.0
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

/// The peer's segment stays mapped until this process leaves the fabric; when the peer dies, the mapping is
/// replaced by zeroes, so that the system can reclaim the memory and late readers see no QP.
struct peer {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  pid_t pid = 0;
  std::uint64_t start_time = 0;
  bool self = false;
  segment* base = nullptr;
  /// This process's view of the peer's memory regions: `base->mrs`, or for itself a copy that peers cannot
  /// write.
  mr_record* regions = nullptr;
  std::atomic<bool> dead{false};
  std::atomic<bool> must_bounce{false};  ///< process_vm_* is not permitted
  unique_fd pidfd;                       ///< becomes readable when the process has ended
  unique_fd life;                        ///< hangs up when the process has ended or called exec()

  ~peer();

  /// This process's mapping of an allocation of the peer; nullptr on failure.
  unsigned char* map_memory(int fd, std::uint64_t inode, std::uint64_t bytes) noexcept;
  /// True if the process has ended, so that another one may have its PID; asks the kernel. For use before a
  /// copy by PID. Always false without a pidfd.
  bool has_ended() noexcept;
  /// True if the process has ended or called exec(); asks the kernel. For use after a failed copy.
  bool gone() noexcept;
  /// True if the kernel does not report its end.
  [[nodiscard]] bool unwatched() const noexcept {
    return !dead.load() && (pidfd.get() < 0 || life.get() < 0);
  }
  /// Wakes its service thread. If this process has no descriptor for that, its own service thread retries.
  void wake() noexcept;
  [[nodiscard]] bool owes_wake() const noexcept { return owes_wake_.load(std::memory_order_relaxed); }
  /// Makes the peer check for work that this process has left for it.
  void call_attention() noexcept {
    base->attention.store(1, orders::calling_attention);
    wake();
  }
  /// Writes a completion channel's event. False on failure: then the channel's owner must write it.
  [[nodiscard]] bool post_event(int fd, std::uint64_t inode, std::uint64_t name) noexcept;
  /// Replaces all mappings of a dead peer by zeroes, and closes all descriptors.
  void bury() noexcept;
  /// In a forked child: closes and forgets what belongs to the parent.
  void abandon() noexcept;
  /// For the fork handlers, which hold it during fork().
  std::mutex& mutex() noexcept { return mutex_; }

 private:
  struct mapping {
    int fd;
    std::uint64_t inode;
    std::uint64_t bytes;
    unsigned char* address;
    bool is_prefaulted;
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
  std::size_t pipes_kept_ = fewest_pipes_kept;  ///< up to this number, pipes are not checked for staleness
};

/// Maps a peer's segment. nullptr if there is no such process or its segment is invalid, with `why` 0, or if
/// this process lacks resources (descriptors, addresses, rights), with `why` set to the errno.
peer* connect_peer(const member& entry, std::uint32_t slot, int& why) noexcept;

}  // namespace chorale::soft
