// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <unistd.h>

#include <fmt/format.h>

#include <chorale/bootstrap/pmix.hpp>
#include <chorale/core/background.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/sendable.hpp>
#include <chorale/core/uncancellable.hpp>

#include "../core/helper_thread.hpp"
#include "../core/immortal.hpp"
#include "../core/over_forks.hpp"
#include "../core/printable.hpp"
#include "../core/process.hpp"
#include "../core/streams_reserved.hpp"
#include "../core/system_files.hpp"
#include "../core/timed_wait.hpp"
#include "environment.hpp"
#include "rank_claim.hpp"

#ifdef CHORALE_HAVE_PMIX
#include "pmix_calls.hpp"
#endif

namespace chorale::bootstrap {

struct pmix::session {
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  bool singleton = true;
  pid_t process = getpid();
  std::string job;
  std::string description;
  unsigned long exchanges = 0;

  session();
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline);

 private:
  void connect();
  void check_size(const launch& how) const;
#ifdef CHORALE_HAVE_PMIX
  void fence(std::chrono::milliseconds deadline);
  void find_neighbours();
  void put(const char* key, std::span<const std::byte> bytes) const;
  void require_life();

  pmix_proc_t self_{};
  std::chrono::milliseconds stall_{};
  bool knows_neighbours_ = false;
  /// Ranks of this host, and when their processes disappeared.
  struct neighbour {
    int rank;
    process_identity process;
    clock::time_point gone_since{};
  };
  std::vector<neighbour> neighbours_;
#endif
};

pmix::session::session() {
  const launch how = inspect_launch();
  if (const auto held = how.pmix ? claim_rank() : std::nullopt) {
    if (how.ranks != 1)
      throw error(
          errc::bootstrap_failed,
          fmt::format("{}, and process {} has the same launcher's variables: each rank is one process, "
                      "once. Start a further program by a launcher of its own, or, as a singleton, "
                      "without these variables (env -u PMIX_NAMESPACE -u PMIX_RANK -u "
                      "OMPI_COMM_WORLD_SIZE -u PMI_SIZE -u SLURM_PROCID)",
                      *held, getpid()));
    // One rank needs no launcher.
    job = fmt::format("singleton-{}", getpid());
    description = fmt::format("a singleton of one rank, since {}", *held);
  } else if (how.pmix) {
    connect();
    singleton = false;
    description = fmt::format("rank {} of {}, {}", rank, size, how.explanation);
  } else if (how.launcher != "none" && how.ranks > 1) {
    throw error(errc::no_launcher, how.explanation);
  } else {
    job = fmt::format("singleton-{}", getpid());
    description = how.explanation;
  }
  check_size(how);
}

void pmix::session::check_size(const launch& how) const {
  require_expected_ranks(size, how.pmix ? errc::bootstrap_failed : errc::no_launcher, how.explanation);
  if (how.pmix && how.ranks > 0 && how.ranks != size) {
    throw error(errc::bootstrap_failed,
                fmt::format("{} says {} processes, its PMIx server {}: one of them belongs to another job; "
                            "unset inherited launcher variables",
                            how.launcher, how.ranks, size));
  }
}

#ifdef CHORALE_HAVE_PMIX
namespace {

/// Published by each rank about its process before anything else.
struct process_card {
  process_identity process;
  char boot[40];
};
constexpr const char* process_key = "chorale.process";

process_card this_process_card() {
  process_card card{this_process(), {}};
  const std::string boot = detail::word_of_system("/proc/sys/kernel/random/boot_id");
  boot.copy(card.boot, sizeof card.boot - 1);
  if (boot.empty()) card.process = {};
  return card;
}

/// How often a waiting rank checks that the others are alive.
constexpr std::chrono::milliseconds look_interval{250};
/// A rank may end as soon as its fence completes, before the launcher has told the others.
constexpr std::chrono::milliseconds release_time{1250};

}  // namespace

void pmix::session::connect() {
  pmix_status_t status = detail::foreign_call([&] { return PMIx_Init(&self_, nullptr, 0); });
  if (status != PMIX_SUCCESS) {
    give_back_rank();
    fail("PMIx_Init", status,
         fmt::format("the launcher's PMIx server cannot be reached as user {}; it serves only the user who "
                     "started the job",
                     geteuid()));
  }
  pmix_proc_t all;
  PMIX_LOAD_PROCID(&all, self_.nspace, PMIX_RANK_WILDCARD);
  value_owner job_size;
  status = PMIx_Get(&all, PMIX_JOB_SIZE, nullptr, 0, &job_size.value);
  if (status != PMIX_SUCCESS) fail("PMIx_Get(PMIX_JOB_SIZE)", status);
  if (job_size.value->type != PMIX_UINT32 || self_.rank >= job_size.value->data.uint32)
    fail("PMIx_Get(PMIX_JOB_SIZE)", PMIX_ERR_BAD_PARAM,
         "the launcher's PMIx server gives no number of ranks");
  rank = static_cast<int>(self_.rank);
  size = static_cast<int>(job_size.value->data.uint32);
  // Launchers need not provide it; ranks then use their number in the job.
  local_rank = rank;
  value_owner local;
  if (PMIx_Get(&self_, PMIX_LOCAL_RANK, nullptr, 0, &local.value) == PMIX_SUCCESS &&
      local.value->type == PMIX_UINT16)
    local_rank = local.value->data.uint16;
  job = self_.nspace;
  const config settings = config::from_environment();
  stall_ = settings.stall;
  const process_card mine = this_process_card();
  put(process_key, detail::bytes_of(mine));
  // A rank that ends while another still connects could leave that one waiting in PMIx_Init forever.
  fence(settings.deadline);
}

void pmix::session::put(const char* key, std::span<const std::byte> bytes) const {
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  pmix_value_t value;
  PMIX_VALUE_CONSTRUCT(&value);
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = reinterpret_cast<char*>(copy.data());
  value.data.bo.size = copy.size();
  if (auto s = PMIx_Put(PMIX_GLOBAL, key, &value); s != PMIX_SUCCESS) fail("PMIx_Put", s, key);
  if (auto s = PMIx_Commit(); s != PMIX_SUCCESS) fail("PMIx_Commit", s, key);
}

void pmix::session::fence(std::chrono::milliseconds deadline) {
  pmix_proc_t all;
  PMIX_LOAD_PROCID(&all, self_.nspace, PMIX_RANK_WILDCARD);
  pmix_info_t collect;
  bool yes = true;
  PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  auto state = std::make_shared<fence_state>();
  auto* handed = new std::shared_ptr<fence_state>(state);
  const pmix_status_t status = PMIx_Fence_nb(&all, 1, &collect, 1, fence_done, handed);
  if (status == PMIX_OPERATION_SUCCEEDED) {
    delete handed;
    return;
  }
  if (status != PMIX_SUCCESS) {
    delete handed;
    fail("PMIx_Fence", status);
  }
  const auto start = clock::now();
  auto report = stall_;
  std::unique_lock lock{state->mutex};
  while (!wait_for(state->changed, lock, look_interval, [&] { return state->done; })) {
    lock.unlock();
    background::advance_all(attention::passes);
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - start);
    if (deadline.count() != 0 && waited >= deadline)
      throw error(
          errc::bootstrap_failed,
          fmt::format("PMIx_Fence: not all ranks came within {} ms; one died or does not make this call "
                      "(CHORALE_DEADLINE_MS sets the limit)",
                      deadline.count()));
    require_life();
    if (waited >= report) {
      report *= 2;
      // Only the launcher knows which ranks are missing; one line per host is enough.
      if (local_rank == 0)
        chorale::say(
            stderr,
            "chorale: rank {} has waited {:.1f} s for all ranks to make their communicator; nothing has "
            "failed, and the wait goes on (CHORALE_STALL_MS)\n",
            rank, static_cast<double>(waited.count()) / 1000);
    }
    lock.lock();
  }
  if (state->status != PMIX_SUCCESS) fail("PMIx_Fence", state->status, "a rank may have died");
  knows_neighbours_ = true;
}

void pmix::session::find_neighbours() {
  const process_card mine = this_process_card();
  pmix_info_t here;
  bool yes = true;
  // It arrived with the first fence or not at all, so do not send a request for it.
  PMIX_INFO_LOAD(&here, PMIX_OPTIONAL, &yes, PMIX_BOOL);
  pmix_proc_t peer;
  PMIX_LOAD_PROCID(&peer, self_.nspace, PMIX_RANK_WILDCARD);
  for (int r = 0; r < size; ++r) {
    if (r == rank) continue;
    peer.rank = static_cast<pmix_rank_t>(r);
    value_owner got;
    process_card theirs{};
    if (PMIx_Get(&peer, process_key, &here, 1, &got.value) != PMIX_SUCCESS ||
        got.value->type != PMIX_BYTE_OBJECT || got.value->data.bo.size != sizeof theirs)
      continue;
    std::memcpy(static_cast<void*>(&theirs), got.value->data.bo.bytes, sizeof theirs);
    if (theirs.process.pid != 0 && mine.process.pid_namespace == theirs.process.pid_namespace &&
        std::memcmp(mine.boot, theirs.boot, sizeof mine.boot) == 0)
      neighbours_.push_back({r, theirs.process, {}});
  }
}

void pmix::session::require_life() {
  // Before the first fence completes, only the launcher knows the ranks.
  if (!knows_neighbours_) return;
  if (neighbours_.empty()) find_neighbours();
  const auto now = clock::now();
  for (neighbour& n : neighbours_) {
    if (state_of(n.process) != process_state::gone) continue;
    if (n.gone_since == clock::time_point{}) n.gone_since = now;
    if (now - n.gone_since >= release_time)
      throw error(errc::bootstrap_failed,
                  fmt::format("PMIx_Fence on rank {}: rank {} has ended, or was killed, before it made this "
                              "call: not all ranks make the same communicators",
                              rank, n.rank),
                  {n.rank});
  }
}

pmix::session::~session() {
  // A forked child lacks the threads that PMIx_Finalize waits for.
  if (!singleton && getpid() == process) PMIx_Finalize(nullptr, 0);
}

cards pmix::session::exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
  if (singleton) return {std::vector<std::byte>(mine.begin(), mine.end())};
  if (mine.size() > 65536)
    throw error(errc::invalid_argument, "bootstrap exchange: a card has at most 65536 bytes");
  const std::string key = fmt::format("chorale.{}", exchanges);

  // A rank that fails before the fence, for example for lack of memory, may repeat this exchange.
  put(key.c_str(), mine);
  fence(deadline);
  ++exchanges;

  pmix_proc_t peer;
  PMIX_LOAD_PROCID(&peer, self_.nspace, PMIX_RANK_WILDCARD);
  cards all(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) {
    auto& card = all[static_cast<std::size_t>(r)];
    if (r == rank) {
      card.assign(mine.begin(), mine.end());
      continue;
    }
    peer.rank = static_cast<pmix_rank_t>(r);
    value_owner got;
    const auto s = PMIx_Get(&peer, key.c_str(), nullptr, 0, &got.value);
    if (s != PMIX_SUCCESS) fail("PMIx_Get", s, fmt::format("card '{}' of rank {}", key, r));
    if (got.value->type != PMIX_BYTE_OBJECT)
      throw error(errc::bootstrap_failed,
                  fmt::format("PMIx_Get: card '{}' of rank {} is no byte object", key, r));
    const auto* bytes = reinterpret_cast<const std::byte*>(got.value->data.bo.bytes);
    card.assign(bytes, bytes + got.value->data.bo.size);
  }
  return all;
}
#else
void pmix::session::connect() {
  throw error(
      errc::unsupported,
      "a PMIx launcher started this program, but this Chorale was built without PMIx (-Dpmix=enabled)");
}
pmix::session::~session() = default;
cards pmix::session::exchange(std::span<const std::byte> mine, std::chrono::milliseconds) {
  return {std::vector<std::byte>(mine.begin(), mine.end())};
}
#endif

namespace {

using ending = void (*)();
constinit ending end_last_session = nullptr;

/// Held during PMIx_Init, which may fork, so that fork() cannot wait for it.
struct session_lock : std::mutex {};

[[gnu::constructor]] void renew_session_lock_in_children() {
  detail::of_process<session_lock>::handle_forks();
}

/// Runs when the library is unloaded, after the destructors of static objects, which may use communicators.
[[gnu::destructor]] void end_session() noexcept {
  if (end_last_session != nullptr) end_last_session();
}

}  // namespace

pmix::pmix() {
  detail::require_same_layouts();
  // One session per process: PMIx counts its users, but a finalized session cannot always be restarted.
  static detail::immortal<std::shared_ptr<session>> shared;
  const detail::uncancellable ends_first;
  const std::lock_guard<std::mutex> lock{detail::of_process<session_lock>::get()};
  if (!*shared) {
    *shared = std::make_shared<session>();
    end_last_session = [] { shared->reset(); };
  }
  session& one = **shared;
  if (!one.singleton && one.process != getpid())
    throw error(errc::misuse,
                fmt::format("process {} is a child of fork() of rank {}, process {}, and cannot make a "
                            "communicator of that rank's job; make it before fork(), or start a program of "
                            "its own by a launcher",
                            getpid(), one.rank, one.process));
  session_ = *shared;
}

int pmix::rank() const noexcept {
  return session_->rank;
}
int pmix::size() const noexcept {
  return session_->size;
}
int pmix::local_rank() const noexcept {
  return session_->local_rank;
}
bool pmix::singleton() const noexcept {
  return session_->singleton;
}
std::string pmix::job() const {
  return session_->job;
}
std::string pmix::describe() const {
  return session_->description;
}
cards pmix::exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
  return session_->exchange(mine, deadline);
}

}  // namespace chorale::bootstrap
