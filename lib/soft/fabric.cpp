// SPDX-License-Identifier: Apache-2.0
#include "fabric.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <chorale/core/fnv.hpp>

#include "../core/system_files.hpp"
#include "startup_lock.hpp"

namespace chorale::soft {
namespace {

constexpr int most_names = 16;

std::uint64_t hash(std::string_view text) noexcept {
  std::uint64_t h = detail::fnv1a(text);
  h ^= h >> 32;
  return h * 0x9e3779b97f4a7c15;
}

/// False if the environment contains an invalid name.
bool fabric_name(std::string& name) {
  if (const char* chosen = std::getenv("CHORALE_SOFT_FABRIC")) {
    name = chosen;
    return is_fabric_name(name);
  }
  const char* job = std::getenv("PMIX_NAMESPACE");
  name = job == nullptr || *job == '\0' ? "default" : job;
  if (!is_fabric_name(name)) {  // launchers use '@' and other characters in theirs
    char hashed[32];
    std::snprintf(hashed, sizeof hashed, "job-%016llx", static_cast<unsigned long long>(hash(name)));
    name = hashed;
  }
  return true;
}

registry* map_registry(int fd) noexcept {
  void* mapped = mmap(nullptr, sizeof(registry), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<registry*>(mapped);
}

/// Finds the registry of any live member of the fabric. 0 (found or not: see `joined`) or an errno. Any user
/// can bind any name: `open_memory` ensures that only this user's memory is trusted.
int find_registry(const std::string& prefix, std::uint64_t fabric_hash, membership& joined) noexcept {
  unique_fd opened_names = detail::open_of_system("/proc/thread-self/net/unix");
  FILE* names = opened_names.get() < 0 ? nullptr : fdopen(opened_names.get(), "r");
  if (names == nullptr) return errno;
  opened_names.release();
  char line[512];
  int status = 0;
  // A process that creates a second fabric because of a temporary lack of descriptors would never be found by
  // the others.
  while (joined.shared == nullptr && !is_shortage(status) &&
         std::fgets(line, sizeof line, names) != nullptr) {
    member_name found{};
    if (!read_member_name(line, prefix, found)) continue;
    unique_fd opened{open_memory(found.pid, found.registry_fd, 0, sizeof(registry))};
    if (opened.get() < 0) {
      if (is_shortage(errno)) status = errno;
      continue;
    }
    registry* mapped = map_registry(opened.get());
    if (mapped == nullptr) {
      status = errno;
      continue;
    }
    if (mapped->magic == registry_magic && mapped->fabric_hash == fabric_hash) {
      if (mapped->version == layout_version) {
        joined.registry_fd = std::move(opened);
        joined.shared = mapped;
        continue;
      }
      status = EPROTO;
    }
    munmap(mapped, sizeof(registry));
  }
  if (std::ferror(names) != 0 && status == 0) status = EIO;
  std::fclose(names);
  return joined.shared == nullptr ? status : 0;
}

int create_registry(std::uint64_t fabric_hash, membership& joined) noexcept {
  std::uint64_t inode = 0;
  joined.registry_fd.reset(create_memory("chorale-soft-registry", sizeof(registry), inode));
  if (joined.registry_fd.get() < 0) return errno;
  registry* fresh = map_registry(joined.registry_fd.get());
  if (fresh == nullptr) return errno;
  const std::uint64_t mixed = random_word() ^ fabric_hash;
  fresh->version = layout_version;
  fresh->fabric_hash = fabric_hash;
  fresh->lid = 1 + static_cast<std::uint32_t>((mixed >> 8) % 0xbfff);
  fresh->guid = mixed | 0x0200000000000000;
  fresh->magic = registry_magic;
  joined.shared = fresh;
  return 0;
}

/// Takes a free slot and binds a name that identifies it. 0 or an errno.
int claim_slot(const std::string& prefix, int segment_fd, std::uint64_t segment_inode, membership& joined) {
  const auto first = static_cast<std::uint32_t>(random_word() % slot_count);
  errno = 0;
  const std::uint64_t start_time = start_time_of(getpid());
  if (start_time == 0 && is_shortage(errno)) return errno;  // no other process would consider this one alive
  int names_left = most_names;
  for (std::uint32_t i = 0; i < slot_count; ++i) {
    const std::uint32_t slot = (first + i) % slot_count;
    member& m = joined.shared->members[slot];
    if (is_alive(m)) continue;
    joined.name.reset(bind_name(prefix + "/" + std::to_string(slot) + "/" + std::to_string(getpid()) + "/" +
                                std::to_string(joined.registry_fd.get())));
    if (joined.name.get() < 0) {
      // Another user has taken the name, or a surviving process in a namespace of the same number: another
      // slot has another name.
      if (errno != EADDRINUSE || --names_left == 0) return errno;
      continue;
    }
    m.pid.store(0);
    joined.slot = slot;
    joined.generation = (m.generation.load() + 1) & 0xffffU;
    m.generation.store(joined.generation);
    m.start_time.store(start_time);
    m.segment_fd.store(segment_fd);
    m.segment_inode.store(segment_inode);
    m.pid.store(getpid(), std::memory_order_release);
    return 0;
  }
  return EUSERS;
}

int join(int segment_fd, std::uint64_t segment_inode, membership& joined) {
  std::string fabric;
  if (!fabric_name(fabric)) return ENODEV;
  const std::string prefix = name_prefix(fabric);
  const std::uint64_t fabric_hash = hash(prefix);

  startup_lock alone;
  if (const int status = alone.take(prefix)) return status;
  if (const int status = find_registry(prefix, fabric_hash, joined)) return status;
  if (joined.shared == nullptr) {
    if (const int status = create_registry(fabric_hash, joined)) return status;
  }
  return claim_slot(prefix, segment_fd, segment_inode, joined);
}

}  // namespace

std::string name_prefix(const std::string& fabric) {
  std::string prefix = "chorale-soft/" + std::to_string(geteuid()) + "/" + fabric + "/";
  for (const char* kind : {"pid", "user"}) {
    const std::uint32_t number = namespace_of(kind);
    if (number == 0 && errno != ENOENT) throw std::system_error(errno, std::generic_category());
    char text[16];
    std::snprintf(text, sizeof text, "%s%x", *kind == 'p' ? "" : "-", number);
    prefix += text;
  }
  return prefix;
}

bool is_fabric_name(std::string_view name) noexcept {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !name.empty() && name.size() <= 40 && name.find_first_not_of(letters) == std::string_view::npos;
}

bool read_member_name(std::string_view line, std::string_view prefix, member_name& found) noexcept {
  const auto begin = line.find('@');
  if (begin == std::string_view::npos) return false;
  std::string_view rest = line.substr(begin + 1);
  if (!rest.starts_with(prefix)) return false;
  rest.remove_prefix(prefix.size());
  const auto read = [&](auto& number) {
    if (!rest.starts_with('/')) return false;
    const char* end = rest.data() + rest.size();
    const auto [stop, status] = std::from_chars(rest.data() + 1, end, number);
    rest = {stop, static_cast<std::size_t>(end - stop)};
    return status == std::errc{};
  };
  if (!read(found.slot) || !read(found.pid) || !read(found.registry_fd)) return false;
  return found.slot < slot_count && found.pid > 0 && found.registry_fd >= 0 && (rest.empty() || rest == "\n");
}

int join_fabric(int segment_fd, std::uint64_t segment_inode, membership& joined) noexcept {
  int status = ENOMEM;
  try {
    status = join(segment_fd, segment_inode, joined);
  } catch (const std::system_error& e) {
    status = e.code().value();
  } catch (...) {
  }
  if (status != 0 && joined.shared != nullptr) {
    munmap(joined.shared, sizeof(registry));
    joined.shared = nullptr;
  }
  return status;
}

void leave_fabric(membership& joined) noexcept {
  if (joined.shared == nullptr) return;
  joined.shared->members[joined.slot].pid.store(0, std::memory_order_release);
  munmap(joined.shared, sizeof(registry));
  joined.shared = nullptr;
}

}  // namespace chorale::soft
