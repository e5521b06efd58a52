// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <pthread.h>
#include <string_view>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <system_error>
#include <unistd.h>

#include <chorale/core/uncancellable.hpp>

#include "../core/helper_thread.hpp"
#include "../core/streams_reserved.hpp"
#include "../verbs/profile_rules.hpp"
#include "datagram.hpp"
#include "memory.hpp"

namespace chorale::soft {
namespace {

std::mutex join_mutex;
process* current = nullptr;  // modified under join_mutex
/// The process objects of parents, kept so that leak checkers find them. Modified under join_mutex.
process* abandoned_ones = nullptr;
std::atomic<registry*> current_registry{nullptr};
std::atomic<process*> current_process{nullptr};  // equals current once it is complete

constexpr const char* profile_variable = "CHORALE_SOFT_PROFILE";

bool is_profile_set() noexcept {
  const char* text = std::getenv(profile_variable);
  return text != nullptr && *text != '\0';
}

/// 0, or EINVAL if the variable cannot be read.
int read_own_profile(std::uint64_t rank, verbs::device_profile& profile) {
  const char* text = std::getenv(profile_variable);
  if (text != nullptr && !verbs::read_profile(text, rank, profile).empty()) return EINVAL;
  verbs::keep_within(profile, {.inline_bytes = max_inline_bytes,
                               .rd_atomic = 16,
                               .sges = max_sge,
                               .depth = max_work_requests,
                               .completions = max_cqe,
                               .queue_pairs = qp_count - 2,
                               .address_handles = 1 << 24,
                               .multicast_groups = multicast_entries,
                               .shared_receive_queues = 65536,
                               .max_message = max_message_bytes,
                               .mtu = IBV_MTU_4096});
  return 0;
}

}  // namespace

process* process::join() noexcept {
  int status = 0;
  try {
    static const bool handles_forks = [] {
      if (pthread_atfork(before_fork, after_fork_parent, after_fork_child) != 0) throw std::bad_alloc();
      return true;
    }();
    static_cast<void>(handles_forks);
    const std::lock_guard lock(join_mutex);
    if (current == nullptr) {
      std::unique_ptr<process> fresh{new process};
      status = fresh->set_up();
      if (status == 0) {
        current = fresh.release();
        current_process.store(current);
      }
    }
    if (status == 0) {
      ++current->contexts_;
      return current;
    }
  } catch (...) {
    status = ENOMEM;
  }
  errno = status;
  return nullptr;
}

process::process() : air_(std::make_unique<flights>()) {}

void process::leave() noexcept {
  const std::lock_guard lock(join_mutex);
  if (--contexts_ != 0) return;
  for (process** at = &abandoned_ones; *at != nullptr; at = &(*at)->of_parents_)
    if (*at == this) {
      *at = of_parents_;
      break;
    }
  if (current == this) {
    current = nullptr;
    current_process.store(nullptr);
  }
  delete this;
}

int process::set_up() noexcept {
  try {
    if (const int status = read_engine_settings(motor_.settings)) return status;
    if (const int status = read_own_profile(motor_.settings.rank, profile_)) return status;
    settle_order(motor_.settings, profile_);
    if (const char* mode = std::getenv("CHORALE_SOFT_COPY")) {
      const std::string_view text{mode};
      if (text == "vm")
        copying_ = copy_mode::vm;
      else if (text == "vm-halves")
        copying_ = copy_mode::vm, copies_words_ = false;
      else if (text == "bounce")
        copying_ = copy_mode::bounce;
      else if (text != "auto" && !text.empty())
        return EINVAL;
    }
    std::uint64_t inode = 0;
    segment_fd_.reset(create_memory("chorale-soft", segment_bytes, inode));
    if (segment_fd_.get() < 0) return errno;
    void* mapped = mmap(nullptr, segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                        segment_fd_.get(), 0);
    if (mapped == MAP_FAILED) return errno;
    madvise(mapped, segment_bytes, MADV_DONTDUMP);
    self_.self = true;
    self_.pid = getpid();
    self_.base = static_cast<segment*>(mapped);
    mapped = mmap(nullptr, sizeof(mr_record) * mr_count, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return errno;
    self_.regions = static_cast<mr_record*>(mapped);
    arena_ = std::make_unique<arena>(*self_.base);
    mr_used_.resize(mr_count);
    mr_cursor_ = static_cast<std::uint32_t>(random_word() % mr_count);
    qp_cursor_ = static_cast<std::uint32_t>(random_word() % qp_count);

    int ends[2];
    if (detail::above_streams([&] { return pipe2(ends, O_CLOEXEC | O_NONBLOCK); }) != 0) return errno;
    wake_read_.reset(ends[0]);
    wake_write_.reset(ends[1]);
    if (detail::above_streams([&] { return pipe2(ends, O_CLOEXEC | O_NONBLOCK); }) != 0) return errno;
    life_read_.reset(ends[0]);
    life_write_.reset(ends[1]);
    epoll_.reset(detail::above_streams([&] { return epoll_create1(EPOLL_CLOEXEC); }));
    if (epoll_.get() < 0) return errno;
    epoll_event interest{};
    interest.events = EPOLLIN;
    interest.data.ptr = nullptr;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_read_.get(), &interest) != 0) return errno;

    // If Yama lets only parents access a process, permit the fabric's members to access this one.
    shown_to_all_ = prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) == 0;

    segment& s = own();
    s.version = layout_version;
    s.placed = static_cast<std::uint32_t>(motor_.settings.placed);
    s.lines_in_order = motor_.settings.in_order == verbs::order_answer::aligned_128 ? 1 : 0;
    s.wake_fd = wake_read_.get();
    s.wake_inode = inode_of(wake_read_.get());
    s.address = reinterpret_cast<std::uint64_t>(self_.base);
    s.life_fd = life_read_.get();
    s.life_inode = inode_of(life_read_.get());
    s.magic = segment_magic;
    if (const int status = join_fabric(segment_fd_.get(), inode, membership_)) return status;
    looks_at_ports_ = is_profile_set();
    ibv_gid as_it_is{};
    as_it_is.global.interface_id = htobe64(fabric().guid);
    s.port = verbs::identity_of(profile_, static_cast<std::uint16_t>(fabric().lid), as_it_is);
    s.slot = self_.slot = membership_.slot;
    s.generation = self_.generation = membership_.generation;
    lock_name_ = (membership_.generation << 11) | (membership_.slot + 1);
    peers_[membership_.slot].store(&self_, std::memory_order_release);
    current_registry.store(membership_.shared);
    service_ = detail::start_helper_thread([this] { serve(); });
    return 0;
  } catch (const std::system_error& e) {  // the thread could not be created
    return e.code().value();
  } catch (...) {
    return ENOMEM;
  }
}

process::~process() {
  if (abandoned()) {
    // The child has no service thread; the parent's handle must not be joined.
    if (service_.joinable()) service_.detach();
  } else if (service_.joinable()) {
    const detail::uncancellable ends_first;
    stopping_.store(true);
    wake_service();
    service_.join();
    air_->land(*this, true);
  }
  if (shown_to_all_ && !abandoned()) prctl(PR_SET_PTRACER, 0, 0, 0, 0);
  // Not earlier: the service thread uses the registry to check whether the holder of a lock is alive.
  registry* mine = membership_.shared;
  current_registry.compare_exchange_strong(mine, nullptr);
  leave_fabric(membership_);
  all_peers_.clear();
  if (self_.base != nullptr) {
    for (auto& qp : self_.base->qps) qp.state.store(0);
    munmap(self_.base, segment_bytes);
  }
  if (self_.regions != nullptr) munmap(self_.regions, sizeof(mr_record) * mr_count);
}

peer* process::find_new_peer(std::uint32_t slot) noexcept {
  try {
    const std::lock_guard lock(peers_mutex_);
    member& entry = fabric().members[slot];
    peer* known = peers_[slot].load(std::memory_order_acquire);
    const bool stale = known != nullptr && known->generation != entry.generation.load();
    if (known != nullptr && !stale) return known->dead.load() ? nullptr : known;
    if (entry.pid.load(std::memory_order_acquire) == 0) {
      // It has left: what was in the way before says nothing about this.
      obstacles_.erase(slot);
      return nullptr;
    }
    all_peers_.reserve(all_peers_.size() + 1);
    int why = 0;
    peer* fresh = connect_peer(entry, slot, why);
    if (fresh == nullptr && why != 0) {
      obstacle& o = obstacles_[slot];
      if (o.why == 0) o.since = now_ns();
      o.why = why;
      return nullptr;
    }
    obstacles_.erase(slot);
    if (fresh == nullptr) return nullptr;
    all_peers_.emplace_back(fresh);
    if (known != nullptr) lose(*known);
    peers_[slot].store(fresh, std::memory_order_release);
    watch(*fresh);
    return fresh;
  } catch (...) {
    return nullptr;
  }
}

int process::why_unreachable(std::uint32_t slot, std::int64_t at_least_ns) noexcept {
  const std::lock_guard lock(peers_mutex_);
  const auto found = obstacles_.find(slot);
  return found == obstacles_.end() || now_ns() - found->second.since < at_least_ns ? 0 : found->second.why;
}

std::uint32_t process::next_qp_index() noexcept {
  for (std::uint32_t i = 0; i < qp_count; ++i) {
    qp_cursor_ = (qp_cursor_ + 1) % qp_count;
    if (qp_cursor_ > 1 && qp_table_[qp_cursor_].load() == nullptr) return qp_cursor_;
  }
  return 0;
}

std::uint32_t process::next_mr_index() noexcept {
  for (std::uint32_t i = 0; i < mr_count; ++i) {
    mr_cursor_ = (mr_cursor_ + 1) % mr_count;
    if (mr_cursor_ == 0 || mr_used_[mr_cursor_]) continue;
    mr_used_[mr_cursor_] = true;
    return mr_cursor_;
  }
  return 0;
}

bool owner_gone(std::uint32_t lock_owner) noexcept {
  registry* fabric = current_registry.load();
  const std::uint32_t slot = (lock_owner & 0x7ffU) - 1;
  if (fabric == nullptr || slot >= slot_count) return true;
  const member& m = fabric->members[slot];
  if (m.pid.load() == getpid() && m.generation.load() == lock_owner >> 11)
    return false;  // regardless of /proc
  return m.generation.load() != lock_owner >> 11 || !is_alive(m);
}

void serve_while_waiting() noexcept {
  if (process* here = current_process.load(std::memory_order_relaxed)) here->serve_bounces();
}

void wake_own_service() noexcept {
  if (process* here = current_process.load(std::memory_order_relaxed)) here->wake_service();
}

// fork(): the child is not a member. Every lock that guards what the handlers access is held during fork().
void process::before_fork() noexcept {
  join_mutex.lock();
  if (current == nullptr) return;
  current->progress_mutex_.lock();
  current->objects_mutex_.lock();
  current->peers_mutex_.lock();
  current->stalled_mutex_.lock();
  for (auto& p : current->all_peers_) p->mutex().lock();
  current->self_.mutex().lock();
  allocations_lock().lock();
}

void process::after_fork_parent() noexcept {
  if (current != nullptr) {
    allocations_lock().unlock();
    current->self_.mutex().unlock();
    for (auto& p : current->all_peers_) p->mutex().unlock();
    current->stalled_mutex_.unlock();
    current->peers_mutex_.unlock();
    current->objects_mutex_.unlock();
    current->progress_mutex_.unlock();
  }
  join_mutex.unlock();
}

void process::after_fork_child() noexcept {
  process* parents = current;
  after_fork_parent();
  if (parents == nullptr) return;
  parents->abandon();
  part_from_parents_memory();
  parents->of_parents_ = std::exchange(abandoned_ones, parents);
  current = nullptr;
  current_process.store(nullptr);
  current_registry.store(nullptr);
}

void process::abandon() noexcept {
  abandoned_.store(true);
  for (auto& p : all_peers_) p->abandon();
  self_.abandon();
  mmap(membership_.shared, sizeof(registry), PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  membership_.registry_fd.reset();
  membership_.name.reset();
  segment_fd_.reset();
  wake_read_.reset();
  wake_write_.reset();
  life_read_.reset();
  life_write_.reset();
  epoll_.reset();
}

}  // namespace chorale::soft
