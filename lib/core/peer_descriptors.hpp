// SPDX-License-Identifier: Apache-2.0
// Memory and pipes that processes of one user access through each other's /proc/PID/fd.
#pragma once

#include <cstdint>
#include <sys/stat.h>
#include <sys/types.h>

#include "unique_fd.hpp"

namespace chorale::detail {

/// An unnamed, sealed memfd of `bytes` with mode 0600; returns its inode in `inode`. -1 with errno, EFBIG if
/// the file size limit is smaller.
int create_memory(const char* label, std::uint64_t bytes, std::uint64_t& inode) noexcept;
/// Opens descriptor `fd` of process `pid` for reading and writing, if it is a sealed memfd of this user with
/// that inode (0: any) and at least that size. -1 with errno.
///
/// Never opens anything else: the object opened is the object checked, even if the other process replaces the
/// descriptor meanwhile.
int open_memory(pid_t pid, int fd, std::uint64_t inode, std::uint64_t bytes) noexcept;
/// Opens descriptor `fd` of process `pid` for reading in the same way, if it is any memfd of this user.
[[nodiscard]] unique_fd open_memory_to_read(pid_t pid, int fd) noexcept;

/// References descriptor `fd` of process `pid` without opening it, so that it can be inspected without side
/// effects. Opening another process's device, FIFO or terminal could have effects.
[[nodiscard]] unique_fd hold_descriptor(pid_t pid, int fd, struct stat& s) noexcept;
/// Opens the object that `held` references, which cannot be replaced any more.
[[nodiscard]] unique_fd open_held(const unique_fd& held, int flags) noexcept;
/// The file system of memfds or pipes of this process: internal to the kernel, so users can create only such
/// objects there. 0 with errno if none can be created.
[[nodiscard]] dev_t kernel_device(bool pipe) noexcept;

}  // namespace chorale::detail
