// SPDX-License-Identifier: Apache-2.0
// This process's membership of the fabric, shared by all contexts, so that threads can be ranks.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <infiniband/verbs.h>

#include "../verbs/device_profile.hpp"
#include "arena.hpp"
#include "engine.hpp"
#include "fabric.hpp"
#include "peer.hpp"

namespace chorale::soft {

struct context;
struct queue_pair;
struct completion_queue;
struct shared_receive_queue;
class flights;

enum class copy_mode { automatic, vm, bounce };

/// Owns the segment, the service thread and the map of peers. Thread-safe.
class process {
 public:
  /// Joins the fabric at the first call; each success needs one `leave()`. nullptr with errno.
  static process* join() noexcept;
  void leave() noexcept;

  [[nodiscard]] const registry& fabric() const noexcept { return *membership_.shared; }
  [[nodiscard]] registry& fabric() noexcept { return *membership_.shared; }
  [[nodiscard]] segment& own() noexcept { return *self_.base; }
  /// The memory regions of this process, by index. Peers read the copy in `own().mrs`, which they could also
  /// write.
  [[nodiscard]] mr_record* regions() noexcept { return self_.regions; }
  [[nodiscard]] peer& self() noexcept { return self_; }
  [[nodiscard]] std::uint32_t slot() const noexcept { return membership_.slot; }
  /// The owner value that this process writes into a `shared_lock`.
  [[nodiscard]] std::uint32_t lock_name() const noexcept { return lock_name_; }
  [[nodiscard]] arena& memory() noexcept { return *arena_; }
  /// Allocates records of receive queues, which are only ever reused as such records, since a sender that
  /// found a queue before its QP was destroyed may still try its lock. nullptr if there is no room.
  receive_queue_record* take_receive_queue_record();
  void give_back(receive_queue_record* record) noexcept;
  [[nodiscard]] copy_mode copying() const noexcept { return copying_; }
  /// Whether process_vm_writev stores 8 aligned bytes at once. If a kernel stores halves, as one for POWER
  /// may, a poller could see half a word; then the target copies such words itself.
  [[nodiscard]] bool kernel_copies_words() const noexcept { return copies_words_; }
  [[nodiscard]] engine& motor() noexcept { return motor_; }
  /// The device's limits and behaviour according to its profile, within what soft0 supports.
  [[nodiscard]] const verbs::device_profile& profile() const noexcept { return profile_; }
  /// Whether ports decide which QPs reach each other. Otherwise all ports of the fabric count as alike.
  [[nodiscard]] bool looks_at_ports() const noexcept { return looks_at_ports_; }
  /// True if the device has failed, as its profile demanded: no queue pair recovers.
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
  /// The contexts of this process, which learn of events of the device. Guarded by `objects_mutex()`.
  std::vector<context*>& open_contexts() noexcept { return open_contexts_; }
  /// Starts the profile's events, now that a first context can receive them.
  void begin_events() noexcept;
  /// The numbers of objects that the profile limits. Each is reserved before its object is made.
  struct use {
    std::atomic<std::uint64_t> address_handles{0};
    std::atomic<std::uint64_t> memberships{0};
    std::atomic<std::uint64_t> registered_bytes{0};
  };
  [[nodiscard]] use& in_use() noexcept { return in_use_; }
  /// Datagrams in flight, with the deferred engine.
  [[nodiscard]] flights& air() noexcept { return *air_; }
  /// True if a forked child sees the parent's process object: everything shared has become private zeroes.
  [[nodiscard]] bool abandoned() const noexcept { return abandoned_.load(std::memory_order_relaxed); }

  /// The live process in that slot; nullptr if there is none. Known peers need no lock or system call.
  peer* find_peer(std::uint32_t slot) noexcept {
    if (slot >= slot_count) return nullptr;
    peer* known = peers_[slot].load(std::memory_order_acquire);
    if (known != nullptr && !known->dead.load(std::memory_order_relaxed) &&
        fabric().members[slot].generation.load(std::memory_order_relaxed) == known->generation)
      return known;
    return find_new_peer(slot);
  }

  /// The errno that has kept this process from mapping an existing peer for `at_least_ns`; otherwise 0.
  [[nodiscard]] int why_unreachable(std::uint32_t slot, std::int64_t at_least_ns = 0) noexcept;

  /// Deferred work: QPs with stalled sends are retried until they are removed from the list.
  [[nodiscard]] bool add_stalled(queue_pair& qp) noexcept;
  void forget_stalled(queue_pair& qp) noexcept;
  [[nodiscard]] bool has_chores() noexcept {
    return motor_.flying.load(std::memory_order_relaxed) != 0 ||
           stalled_count_.load(std::memory_order_relaxed) != 0 ||
           own().attention.load(std::memory_order_relaxed) != 0;
  }
  /// Does pending work and serves bounced copies, unless another thread is doing so.
  void progress() noexcept;
  /// Serves bounced copies requested by peers.
  void serve_bounces() noexcept;
  /// Acquires data that other threads wrote in `serve_bounces`: the peers' notifications of such data do not
  /// synchronise with those threads.
  void see_bounces() const noexcept { (void)bounced_.load(std::memory_order_acquire); }
  void wake_service() noexcept;
  /// Writes events of this process's completion queues that peers could not write. The caller holds
  /// `objects_mutex()`.
  void post_owed_events() noexcept;
  /// Sets `own().attention`, and wakes the thread that checks it.
  void call_attention() noexcept;

  /// Objects of this process, for the service thread and destructors.
  std::mutex& objects_mutex() noexcept { return objects_mutex_; }
  std::vector<queue_pair*>& queue_pairs() noexcept { return queue_pairs_; }
  std::vector<completion_queue*>& completion_queues() noexcept { return completion_queues_; }
  std::vector<shared_receive_queue*>& shared_receive_queues() noexcept { return shared_receive_queues_; }
  std::array<std::atomic<queue_pair*>, qp_count>& qp_table() noexcept { return qp_table_; }
  /// Reserves a free QP index; 0 if there is none. The caller holds `objects_mutex()`.
  std::uint32_t next_qp_index() noexcept;
  std::uint32_t next_mr_index() noexcept;
  std::uint64_t next_name() noexcept { return names_.fetch_add(1, std::memory_order_relaxed) + 1; }
  std::vector<bool>& mr_used() noexcept { return mr_used_; }

  /// Waits until no peer executes a request that it began before this call on a QP of this process (only on
  /// `only` if given). False if a stopped peer does not finish.
  bool quiesce(queue_pair* only = nullptr) noexcept;

  ~process();

 private:
  process();
  int set_up() noexcept;
  void serve() noexcept;
  void attend() noexcept;
  /// Milliseconds until the next event of the profile; -1 if there is none.
  [[nodiscard]] int until_event() const noexcept;
  /// Raises the events that are due.
  void let_events_happen() noexcept;
  void happen(ibv_event_type what) noexcept;
  void watch(peer& p) noexcept;
  void lose(peer& p) noexcept;
  void check_unwatched() noexcept;
  void repeat_wakes() noexcept;
  peer* find_new_peer(std::uint32_t slot) noexcept;
  bool quiesce_one(queue_pair& qp) noexcept;

  static void before_fork() noexcept;
  static void after_fork_parent() noexcept;
  static void after_fork_child() noexcept;
  void abandon() noexcept;

  membership membership_;
  unique_fd segment_fd_;
  peer self_;
  std::unique_ptr<arena> arena_;
  std::mutex spare_records_mutex_;
  std::vector<receive_queue_record*> spare_records_;
  std::uint32_t lock_name_ = 0;
  copy_mode copying_ = copy_mode::automatic;
#if defined(__x86_64__) || defined(__aarch64__)
  bool copies_words_ = true;
#else
  bool copies_words_ = false;
#endif
  engine motor_;
  verbs::device_profile profile_;
  use in_use_;
  bool looks_at_ports_ = false;
  std::atomic<bool> failed_{false};
  std::vector<context*> open_contexts_;
  std::atomic<std::int64_t> opened_ns_{0};
  std::size_t events_past_ = 0;  ///< number of the profile's events that have happened
  std::unique_ptr<flights> air_;
  std::atomic<bool> abandoned_{false};
  process* of_parents_ = nullptr;  ///< the parents' process objects, in a forked child
  bool shown_to_all_ = false;      ///< by PR_SET_PTRACER
  std::atomic<std::uint64_t> bounced_{0};
  /// Each is true while a thread copies for that slot, whatever peers write there meanwhile.
  std::array<std::atomic<bool>, bounce_slots> serving_{};
  unsigned contexts_ = 0;

  std::mutex peers_mutex_;
  std::array<std::atomic<peer*>, slot_count> peers_{};
  std::vector<std::unique_ptr<peer>> all_peers_;
  struct obstacle {
    int why = 0;
    std::int64_t since = 0;
  };
  std::map<std::uint32_t, obstacle> obstacles_;  ///< by slot; guarded by peers_mutex_

  std::mutex progress_mutex_;  ///< held by the thread that does pending work
  std::mutex stalled_mutex_;
  std::vector<queue_pair*> stalled_;
  std::atomic<std::uint32_t> stalled_count_{0};

  std::mutex objects_mutex_;
  std::vector<queue_pair*> queue_pairs_;
  std::vector<completion_queue*> completion_queues_;
  std::vector<shared_receive_queue*> shared_receive_queues_;
  std::array<std::atomic<queue_pair*>, qp_count> qp_table_{};
  std::uint32_t qp_cursor_ = 0;
  std::vector<bool> mr_used_;
  std::uint32_t mr_cursor_ = 0;
  std::atomic<std::uint64_t> names_{0};

  unique_fd wake_read_;
  unique_fd wake_write_;
  unique_fd life_read_;
  unique_fd life_write_;  ///< held only by this process
  unique_fd epoll_;
  std::atomic<bool> stopping_{false};
  std::thread service_;
};

/// True if the holder named in a lock word is no longer in the fabric.
bool owner_gone(std::uint32_t lock_owner) noexcept;
/// Serves bounced copies of this process, if it is in a fabric. Call it while waiting for another process,
/// which may itself be waiting for such a copy.
void serve_while_waiting() noexcept;
/// Wakes the service thread of this process, if it is in a fabric.
void wake_own_service() noexcept;

}  // namespace chorale::soft
