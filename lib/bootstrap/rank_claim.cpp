// SPDX-License-Identifier: Apache-2.0
#include "rank_claim.hpp"

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <chorale/core/fnv.hpp>

#include "../core/files.hpp"
#include "../core/printable.hpp"
#include "../core/process.hpp"

extern char** environ;

namespace chorale::bootstrap {
namespace {

constexpr std::size_t longest_record = 100;

/// Differs between two launchers even if one was killed, left its folder behind, and the other got its PID.
std::uint64_t server_fingerprint() noexcept {
  std::uint64_t sum = 0;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    if (text.starts_with("PMIX_SERVER_URI")) sum += detail::fnv1a(text);  // in any order
  }
  return sum;
}

/// Where the claim on the rank that the environment names is recorded.
struct record_place {
  detail::held_folder folder;
  std::string name;
};

/// Nothing if there is no such place.
std::optional<record_place> place_of_record() {
  const char* folder = std::getenv("PMIX_SERVER_TMPDIR");
  const char* job = std::getenv("PMIX_NAMESPACE");
  const char* rank = std::getenv("PMIX_RANK");
  if (folder == nullptr || *folder != '/' || job == nullptr || rank == nullptr) return std::nullopt;
  const std::uint64_t name = detail::fnv1a(std::string_view{rank}, detail::fnv1a(job, server_fingerprint()));
  try {
    return record_place{detail::held_folder::named(folder), fmt::format("chorale-rank-{:016x}", name)};
  } catch (const detail::file_refusal&) {
    return std::nullopt;
  }
}

/// The process that the record names; nothing if the record is another user's, which cannot be trusted.
std::optional<process_identity> recorded_process(const record_place& at) {
  std::array<char, longest_record + 1> text{};
  process_identity who;
  struct stat s {};
  try {
    const detail::unique_fd file = at.folder.open(at.name, O_RDONLY);
    if (::fstat(file.get(), &s) != 0 || s.st_uid != ::geteuid()) return std::nullopt;
    const auto bytes = ::read(file.get(), text.data(), longest_record);
    if (bytes <= 0 || std::sscanf(text.data(), "%" SCNd64 " %" SCNu64 " %" SCNu64, &who.pid, &who.start,
                                  &who.pid_namespace) != 3)
      who = {};
  } catch (const detail::file_refusal& refused) {
    if (refused.errnum() == EINVAL || refused.errnum() == ELOOP) return std::nullopt;
  }
  return who;
}

/// Identifies this process even where /proc does not.
process_identity claimant() noexcept {
  process_identity me = this_process();
  if (me.pid == 0) me.pid = ::getpid();
  return me;
}

/// Beyond this limit the kernel ends a process that writes.
bool may_write() noexcept {
  rlimit largest{};
  return ::getrlimit(RLIMIT_FSIZE, &largest) != 0 || largest.rlim_cur >= longest_record;
}

bool record(int file, const process_identity& me) noexcept {
  std::array<char, longest_record> text{};
  const int bytes = std::snprintf(text.data(), text.size(), "%" PRId64 " %" PRIu64 " %" PRIu64 "\n", me.pid,
                                  me.start, me.pid_namespace);
  return bytes > 0 && ::write(file, text.data(), static_cast<std::size_t>(bytes)) == bytes;
}

/// The beginning of a sentence about the rank.
std::string describe_holder(const process_identity& holder, const process_identity& me) {
  if (holder.pid == 0) return "another process is";
  if (holder.pid_namespace != me.pid_namespace)
    return fmt::format("process {} of another PID name space is", holder.pid);
  if (state_of(holder) == process_state::gone)
    return fmt::format("process {}, which has ended, was", holder.pid);
  return fmt::format("process {} is", holder.pid);
}

}  // namespace

std::optional<std::string> claim_rank() {
  const std::optional<record_place> at = place_of_record();
  if (!at || !may_write()) return std::nullopt;
  const process_identity me = claimant();
  try {
    const detail::unique_fd file = at->folder.open(at->name, O_WRONLY | O_CREAT | O_EXCL);
    if (!record(file.get(), me)) at->folder.remove(at->name);
    return std::nullopt;
  } catch (const detail::file_refusal& refused) {
    if (refused.errnum() != EEXIST) return std::nullopt;
  }
  const std::optional<process_identity> found = recorded_process(*at);
  if (!found || *found == me) return std::nullopt;
  return fmt::format("{} rank {} of this job", describe_holder(*found, me),
                     printable(std::getenv("PMIX_RANK")));
}

void give_back_rank() noexcept {
  try {
    const std::optional<record_place> at = place_of_record();
    if (at && recorded_process(*at) == claimant()) at->folder.remove(at->name);
  } catch (...) {
    // Without memory the record stays: a second program of this rank gets an error.
  }
}

}  // namespace chorale::bootstrap
