// SPDX-License-Identifier: Apache-2.0
// Finds the fabric, without a file system: the processes of one user and one job that share a soft0.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "../core/peer_descriptors.hpp"
#include "layout.hpp"

namespace chorale::soft {

using detail::create_memory;
using detail::open_memory;
using detail::unique_fd;

/// Membership of a fabric: a mapped registry, one of its slots, and the name by which others find it.
struct membership {
  unique_fd registry_fd;
  registry* shared = nullptr;
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  unique_fd name;  ///< abstract socket; its name vanishes with the process
};

/// How to find a member of a fabric.
struct member_name {
  std::uint32_t slot;
  pid_t pid;
  int registry_fd;
};
/// True if `name` is a valid value of CHORALE_SOFT_FABRIC.
bool is_fabric_name(std::string_view name) noexcept;
/// Common prefix of the names of a fabric's members. Names are visible in the whole network namespace, which
/// containers may share; only processes that see each other under the same PIDs and with the same rights can
/// meet.
/// @throws std::system_error
std::string name_prefix(const std::string& fabric);
/// Parses a line of /proc/net/unix; false if it does not name a member of the fabric with this prefix.
bool read_member_name(std::string_view line, std::string_view prefix, member_name& found) noexcept;

/// Joins the fabric that the environment names and publishes the segment `segment_fd`; creates the fabric if
/// there is none. 0 or an errno: ENODEV (invalid CHORALE_SOFT_FABRIC), ETIMEDOUT (the start-up lock was held
/// for longer than 30 s), EUSERS (all slots taken), EADDRINUSE (all names that were tried are taken), EPROTO
/// (a member has another version), or that of a system call.
int join_fabric(int segment_fd, std::uint64_t segment_inode, membership& joined) noexcept;
/// Frees the slot.
void leave_fabric(membership& joined) noexcept;

/// Opens the pipe `fd` of process `pid` for nonblocking writes without SIGPIPE. -1 with errno. Like
/// `open_memory`, this function and the ones below never open anything else.
int open_pipe(pid_t pid, int fd, std::uint64_t inode) noexcept;
/// False if that process has closed the pipe.
bool has_pipe(pid_t pid, int fd, std::uint64_t inode) noexcept;
std::uint64_t inode_of(int fd) noexcept;

/// Opens the pipe `fd` of process `pid` for reading: it hangs up when that process ends or calls exec(). -1
/// with errno, ESRCH if that has already happened.
int open_life_line(pid_t pid, int fd, std::uint64_t inode) noexcept;

/// False if the process that made the entry has ended, or has called exec().
bool is_alive(const member& entry) noexcept;
/// Start time of a process in ticks since boot; 0 if there is none with that pid, or only a zombie. 0 with
/// errno ENOENT if there is one that /proc does not show.
std::uint64_t start_time_of(pid_t pid) noexcept;
/// Identifies this process's namespace of that kind ("pid", "user"); 0 with errno, ENOENT if the kernel has
/// no such namespaces.
std::uint32_t namespace_of(const char* kind) noexcept;
std::uint64_t random_word() noexcept;
/// True if `errnum` indicates a temporary lack of resources of this process or system, unrelated to the peer.
bool is_shortage(int errnum) noexcept;

}  // namespace chorale::soft
