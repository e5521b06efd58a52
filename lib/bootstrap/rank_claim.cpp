#include "rank_claim.hpp"

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <chorale/core/fnv.hpp>

#include "../core/printable.hpp"
#include "../core/process.hpp"
#include "../core/streams_reserved.hpp"

extern char** environ;

namespace chorale::bootstrap {
namespace {

constexpr std::size_t longest_record = 100;

/// Different for two launchers even if one was killed, left its folder behind, and the other has its number.
std::uint64_t server_fingerprint() noexcept {
  std::uint64_t sum = 0;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    if (text.starts_with("PMIX_SERVER_URI")) sum += detail::fnv1a(text);  // in whatever order they are
  }
  return sum;
}

/// Where the claim on the rank that the environment names is recorded; empty if there is no such place.
std::string record_path() {
  const char* folder = std::getenv("PMIX_SERVER_TMPDIR");
  const char* job = std::getenv("PMIX_NAMESPACE");
  const char* rank = std::getenv("PMIX_RANK");
  if (folder == nullptr || *folder != '/' || job == nullptr || rank == nullptr) return {};
  const std::uint64_t name = detail::fnv1a(std::string_view{rank}, detail::fnv1a(job, server_fingerprint()));
  return fmt::format("{}/chorale-rank-{:016x}", folder, name);
}

process_identity recorded_process(const std::string& path) noexcept {
  std::array<char, longest_record + 1> text{};
  process_identity who;
  const int file = detail::above_streams(
      [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); });
  if (file < 0) return who;
  const auto bytes = ::read(file, text.data(), longest_record);
  ::close(file);
  if (bytes <= 0 || std::sscanf(text.data(), "%" SCNd64 " %" SCNu64 " %" SCNu64, &who.pid, &who.start,
                                &who.pid_namespace) != 3)
    who = {};
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
  const std::string path = record_path();
  if (path.empty() || !may_write()) return std::nullopt;
  const process_identity me = claimant();
  const int file = detail::above_streams([&] {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  });
  if (file >= 0) {
    if (!record(file, me)) ::unlink(path.c_str());
    ::close(file);
    return std::nullopt;
  }
  if (errno != EEXIST) return std::nullopt;
  const process_identity holder = recorded_process(path);
  if (holder == me) return std::nullopt;
  return fmt::format("{} rank {} of this job", describe_holder(holder, me),
                     printable(std::getenv("PMIX_RANK")));
}

void give_back_rank() noexcept {
  try {
    const std::string path = record_path();
    if (!path.empty() && recorded_process(path) == claimant()) ::unlink(path.c_str());
  } catch (...) {
    // Without memory the record stays: a second program of this rank gets an error.
  }
}

}  // namespace chorale::bootstrap
