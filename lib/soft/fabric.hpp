// Finding the fabric: the processes of one user and one job that share a soft0, without a file system.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "layout.hpp"

namespace chorale::soft {

/// Owns a file descriptor.
class unique_fd {
 public:
  explicit unique_fd(int fd = -1) noexcept : fd_(fd) {}
  ~unique_fd() { reset(); }
  unique_fd(unique_fd&& other) noexcept : fd_(other.release()) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  int release() noexcept {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset(int fd = -1) noexcept;

 private:
  int fd_;
};

/// A place in a fabric: a mapped registry, one of its slots, and the name that leads others here.
struct membership {
  unique_fd registry_fd;
  registry* shared = nullptr;
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  unique_fd name;  ///< abstract socket; its name vanishes with the process
};

/// Where a member of a fabric can be found.
struct member_name {
  std::uint32_t slot;
  pid_t pid;
  int registry_fd;
};
/// True if `name` can be CHORALE_SOFT_FABRIC.
bool is_fabric_name(std::string_view name) noexcept;
/// What the names of a fabric's members begin with. Names are seen in all of a network name space, which
/// containers may share: only processes that see each other under the same numbers and with the same rights
/// can meet.
/// @throws std::system_error
std::string name_prefix(const std::string& fabric);
/// Reads a line of /proc/net/unix; false if it names no member of the fabric with this prefix.
bool read_member_name(std::string_view line, std::string_view prefix, member_name& found) noexcept;

/// Joins the fabric that the environment names and publishes the segment `segment_fd`; creates the fabric
/// where there is none. 0 or an errno: ENODEV (CHORALE_SOFT_FABRIC is no name), ETIMEDOUT (someone holds the
/// start-up lock for longer than 30 s), EUSERS (all slots taken), EADDRINUSE (someone has taken one name
/// after the other), EPROTO (a member of another version), or that of a system call.
int join_fabric(int segment_fd, std::uint64_t segment_inode, membership& joined) noexcept;
/// Gives the slot back.
void leave_fabric(membership& joined) noexcept;

/// A sealed memfd of that size, of mode 0600, without a name; its inode in `inode`. -1 with errno, EFBIG
/// where the limit of file size is smaller.
int create_memory(const char* label, std::uint64_t bytes, std::uint64_t& inode) noexcept;
/// Opens descriptor `fd` of process `pid` for reading and writing, if it is a sealed memory of this user with
/// that inode (0: any) and of at least that size. -1 with errno.
///
/// This and its kin below never open anything else: whatever another process shows under that number, and
/// however fast it exchanges it, what is opened is what was looked at.
int open_memory(pid_t pid, int fd, std::uint64_t inode, std::uint64_t bytes) noexcept;
/// Opens the pipe `fd` of process `pid` for writing without ever blocking or SIGPIPE. -1 with errno.
int open_pipe(pid_t pid, int fd, std::uint64_t inode) noexcept;
/// False if that process has closed it.
bool has_pipe(pid_t pid, int fd, std::uint64_t inode) noexcept;
std::uint64_t inode_of(int fd) noexcept;

/// Opens the pipe `fd` of process `pid` for reading: it hangs up when that process ends or calls exec(). -1
/// with errno, ESRCH if that has happened already.
int open_life_line(pid_t pid, int fd, std::uint64_t inode) noexcept;

/// False if the process that made the entry has ended, or has become another program by exec().
bool is_alive(const member& entry) noexcept;
/// When a process started, in ticks since boot; 0 if there is none of that pid or only its zombie.
std::uint64_t start_time_of(pid_t pid) noexcept;
/// What tells the name space of that kind ("pid", "user") that this process is in from others; 0 with errno,
/// ENOENT if the kernel has none.
std::uint32_t namespace_of(const char* kind) noexcept;
std::uint64_t random_word() noexcept;
/// True if `errnum` says that this process or system lacks something for now, and nothing about the peer.
bool is_shortage(int errnum) noexcept;

}  // namespace chorale::soft
