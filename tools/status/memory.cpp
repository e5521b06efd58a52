// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstring>
#include <dirent.h>
#include <memory>
#include <sstream>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "../../lib/core/peer_descriptors.hpp"
#include "../../lib/core/printable.hpp"
#include "../../lib/core/system_files.hpp"
#include "../../lib/transport/status/status_slot.hpp"
#include "seen.hpp"

namespace status {
namespace {

using namespace chorale::transport;

constexpr int most_ranks = 1 << 24;
constexpr std::chrono::nanoseconds longest = std::chrono::hours{24 * 365};

bool copy(int fd, void* to, std::size_t bytes, std::size_t from) {
  return pread(fd, to, bytes, static_cast<off_t>(from)) == static_cast<ssize_t>(bytes);
}

template <std::size_t n>
std::string text_of(const std::array<char, n>& bytes) {
  return chorale::printable(std::string_view{bytes.data(), strnlen(bytes.data(), n)});
}

/// Time since a reading of the clock; zero if that is in the future.
std::chrono::nanoseconds since(chorale::clock::rep then) {
  const std::chrono::nanoseconds now = chorale::clock::now().time_since_epoch();
  const std::chrono::nanoseconds at{then};
  return then <= 0 || at > now || now - at > longest ? std::chrono::nanoseconds{0} : now - at;
}

std::optional<chorale::call> known_call(const status_page& page, std::uint64_t number, int size) {
  const auto found = page.find(number);
  if (!found || found->what == chorale::operation::none || found->what > chorale::operation::exchange ||
      found->root < -1 || found->root >= size)
    return std::nullopt;
  return found;
}

void take_waits(const status_slot& s, place& p) {
  // After a failure, the slot still shows the wait that the failure ended.
  if (p.failure) return;
  const auto peer = s.page.waits_for(chorale::clock::now());
  p.waits_for = peer >= 0 && peer < p.size ? peer : peer == status_page::for_any ? for_any : for_none;
  const auto number = s.waited_call.load();
  if (p.is_in_call() && number == p.ended + 1) p.in_call = since(s.waited_since.load());
  p.waited = p.waits_for == for_none ? std::chrono::nanoseconds{0}
                                     : std::chrono::nanoseconds{s.page.waited(chorale::clock::now())};
  if (p.waited < p.waited.zero() || p.waited > longest) p.waited = p.waited.zero();
}

/// The content of a copy of a slot; nothing if the slot is unused or invalid.
std::optional<place> place_in(const status_slot& s) {
  const auto version = s.version.load();
  if (version == 0 || version % 2 != 0 || s.size < 1 || s.size > most_ranks || s.rank < 0 ||
      s.rank >= s.size || s.hosts < 1 || s.hosts > s.size)
    return std::nullopt;
  place p;
  p.thread = std::max(s.thread.load(), 0);
  p.group = s.group;
  p.rank = s.rank;
  p.size = s.size;
  p.hosts = s.hosts;
  p.label = text_of(s.label);
  if (s.failed != 0) p.failure = text_of(s.failure);
  const int named = std::min<int>(p.size, status_slot::most_here);
  for (int r = 0; r < named; ++r)
    if ((s.here[static_cast<std::size_t>(r) / 64] >> r % 64 & 1U) != 0) p.here.push_back(r);
  p.begun = s.page.current();
  p.ended = std::min(s.page.completed(), p.begun);
  p.last = known_call(s.page, p.begun, p.size);
  if (p.is_in_call()) p.under_way = known_call(s.page, p.ended + 1, p.size);
  if (!p.is_in_call() && s.absent.after.load() == p.begun) p.absent = since(s.absent.since.load());
  take_waits(s, p);
  return p;
}

/// Reads a slot until two successive copies agree on its version.
std::optional<place> read_place(int fd, std::size_t offset) {
  constexpr int attempts = 8;
  const auto first = std::make_unique<status_slot>();
  const auto second = std::make_unique<status_slot>();
  for (int i = 0; i < attempts; ++i) {
    if (!copy(fd, static_cast<void*>(first.get()), sizeof *first, offset)) return std::nullopt;
    if (first->version.load() == 0) return std::nullopt;
    if (!copy(fd, static_cast<void*>(second.get()), sizeof *second, offset)) return std::nullopt;
    if (first->version.load() == second->version.load() && first->page.current() == second->page.current())
      return place_in(*first);
  }
  auto p = place_in(*second);
  if (p) {
    p->is_torn = true;
    p->last.reset();
    p->under_way.reset();
  }
  return p;
}

/// The process's PID in its own namespace, or `pid` if that is unknown.
int own_number(int pid) {
  std::istringstream status{chorale::detail::text_of_system(fmt::format("/proc/{}/status", pid))};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("NSpid:")) {
      int number = pid;
      const auto last = line.find_last_of(" \t");
      std::from_chars(line.data() + last + 1, line.data() + line.size(), number);
      return number;
    }
  return pid;
}

void read_file(int descriptor, process& of) {
  const auto file = chorale::detail::open_memory_to_read(of.pid, descriptor);
  struct stat s {};
  if (file.get() < 0 || fstat(file.get(), &s) != 0) return;
  status_header header;
  if (!copy(file.get(), static_cast<void*>(&header), sizeof header, 0) ||
      header.magic != status_header::expected_magic) {
    of.problem = "its memory for chorale-status holds something else";
    return;
  }
  // A child of fork() that has not replaced the memory yet.
  if (header.pid != own_number(of.pid)) return;
  if (header.layout != status_header::expected_layout || header.slot_bytes != status_slot_bytes ||
      header.slots != status_slots || static_cast<std::uint64_t>(s.st_size) < status_memory_bytes) {
    of.problem = fmt::format(
        "it uses another version of libchorale (layout {}; this tool reads {}): use the chorale-status of "
        "that one",
        header.layout, status_header::expected_layout);
    return;
  }
  of.unpublished += header.unpublished.load();
  for (std::size_t i = 0; i < status_slots; ++i) {
    auto p = read_place(file.get(), (i + 1) * status_slot_bytes);
    if (!p) continue;
    p->pid = of.pid;
    p->slot = static_cast<std::uint64_t>(s.st_ino) * (status_slots + 1) + i;
    of.places.push_back(std::move(*p));
  }
}

}  // namespace

void read_places(process& of) {
  const std::string folder = fmt::format("/proc/{}/fd", of.pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> files{opendir(folder.c_str()), closedir};
  if (!files) return;
  const std::string wanted = fmt::format("/memfd:{}", status_memory_name);
  while (const dirent* entry = readdir(files.get())) {
    char target[64];
    const std::string path = folder + "/" + entry->d_name;
    int descriptor = 0;
    const auto bytes = readlink(path.c_str(), target, sizeof target);
    if (bytes <= 0 || !std::string_view{target, static_cast<std::size_t>(bytes)}.starts_with(wanted))
      continue;
    const std::string_view number{entry->d_name};
    if (std::from_chars(number.data(), number.data() + number.size(), descriptor).ec == std::errc{})
      read_file(descriptor, of);
  }
}

}  // namespace status
