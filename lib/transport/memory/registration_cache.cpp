// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <chorale/core/error.hpp>
#include <chorale/transport/memory/registration_cache.hpp>

#include "../../core/over_forks.hpp"
#include "../../core/pages.hpp"
#include "unmap_monitor.hpp"
#include "unmapped_log.hpp"

namespace chorale::transport {
namespace {

/// Memory that programs have returned to devices, for all caches of the process.
unmapped_log& given_back() noexcept {
  static unmapped_log log;
  return log;
}

}  // namespace

struct registration_cache::entry {
  entry(const verbs::protection_domain& domain, std::uintptr_t first, std::uintptr_t last, rights wanted,
        int access)
      : begin(first),
        end(last),
        kind(wanted),
        region(domain, reinterpret_cast<void*>(first), last - first, access) {}

  std::uintptr_t begin;
  std::uintptr_t end;
  rights kind;
  std::size_t users = 0;
  std::uint64_t last_used = 0;
  bool leaving = false;  ///< removed from the table; its last user destroys it
  bool kept = true;      ///< cached beyond the operation
  verbs::memory_region region;
};

/// The registrations that caches share. Any thread. The lock is held while memory is registered, since
/// another thread may need the same memory at the same time.
class registration_cache::table {
 public:
  /// The properties that caches must have in common to share registrations.
  struct rules {
    const verbs::protection_domain* domain;
    int remote_access;
    std::size_t most_entries;
    std::size_t most_bytes;
    registration_guarantee guarantee;
    bool operator==(const rules&) const = default;
  };
  /// The table of all caches with these rules. @throws std::bad_alloc.
  static std::shared_ptr<table> of(const rules& common);
  explicit table(const rules& common);
  table(const table&) = delete;
  table& operator=(const table&) = delete;

  /// Pins an entry for the pages, made if there is none; true if it existed before.
  std::pair<entry*, bool> find(std::uintptr_t first, std::uintptr_t last, rights wanted);
  void release(entry& e) noexcept;
  void forget(std::uintptr_t first, std::size_t bytes) noexcept;
  [[nodiscard]] registration_guarantee guarantee() const noexcept { return guarantee_; }
  [[nodiscard]] registration_statistics statistics() noexcept;

 private:
  using by_start = std::map<std::uintptr_t, std::unique_ptr<entry>>;
  struct known_tables {
    std::mutex lock;
    std::vector<std::pair<rules, std::weak_ptr<table>>> all;
  };
  [[gnu::constructor]] static void share_none_with_children();

  by_start& of(rights wanted) noexcept { return all_[static_cast<std::size_t>(wanted)]; }
  entry* known(rights wanted, std::uintptr_t first, std::uintptr_t last) noexcept;
  entry& make(std::uintptr_t first, std::uintptr_t last, rights wanted);
  void take_out(entry& e) noexcept;
  void make_room(std::size_t bytes) noexcept;
  bool evict_one() noexcept;
  void drop_stale() noexcept;
  void drop_range(std::uintptr_t first, std::size_t bytes) noexcept;

  const rules rules_;
  registration_guarantee guarantee_;
  std::mutex mutex_;
  std::shared_ptr<unmap_monitor> monitor_;
  std::uint64_t unmapped_seen_ = 0;
  std::uint64_t given_back_seen_ = 0;
  by_start all_[2];  ///< one for each kind of rights
  std::uint64_t clock_ = 0;
  registration_statistics counts_;
};

const char* describe(registration_guarantee g) noexcept {
  switch (g) {
    case registration_guarantee::by_address:
      return "cached; the device finds pages by their address";
    case registration_guarantee::watched:
      return "cached; the kernel reports unmapped memory";
    case registration_guarantee::per_operation:
      return "made for each operation";
  }
  return "unknown";
}

registration_cache::handle::handle(registration_cache& owner, entry& e) noexcept
    : owner_(&owner), entry_(&e) {}
registration_cache::handle::handle(handle&& other) noexcept
    : owner_(other.owner_), entry_(std::exchange(other.entry_, nullptr)) {}
registration_cache::handle& registration_cache::handle::operator=(handle&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(entry_, other.entry_);
  return *this;
}
registration_cache::handle::~handle() {
  if (entry_ != nullptr) owner_->release(*entry_);
}
std::uint32_t registration_cache::handle::lkey() const noexcept {
  return entry_->region.lkey();
}
std::uint32_t registration_cache::handle::rkey() const noexcept {
  return entry_->region.rkey();
}

registration_cache::registration_cache(const verbs::protection_domain& domain, const config& settings,
                                       bool by_address, int remote_access)
    : shared_(table::of({&domain, remote_access, settings.registration_entries, settings.registration_bytes,
                         guarantee_with(settings, by_address)})),
      guarantee_(shared_->guarantee()) {}

registration_guarantee registration_cache::guarantee_with(const config& settings, bool by_address) {
  if (settings.registration == registration_policy::per_operation)
    return registration_guarantee::per_operation;
  if (by_address && settings.registration != registration_policy::watched)
    return registration_guarantee::by_address;
  return unmap_monitor::shared() ? registration_guarantee::watched : registration_guarantee::per_operation;
}

registration_cache::~registration_cache() = default;

registration_cache::handle registration_cache::find(std::span<const std::byte> memory, rights wanted) try {
  if (memory.empty()) return {};
  const auto first = reinterpret_cast<std::uintptr_t>(memory.data());
  const auto [found, was_there] = shared_->find(first, first + memory.size(), wanted);
  ++(was_there ? hits_ : misses_);
  return {*this, *found};
} catch (const error&) {
  ++refusals_;
  throw;
}

void registration_cache::release(entry& e) noexcept {
  shared_->release(e);
}

void registration_cache::forget(const void* address, std::size_t bytes) noexcept {
  if (bytes == 0) return;
  shared_->forget(reinterpret_cast<std::uintptr_t>(address), bytes);
  note_given_back(address, bytes);
}

void registration_cache::note_given_back(const void* address, std::size_t bytes) noexcept {
  // Each table learns of it at its next lookup.
  given_back().note({reinterpret_cast<std::uintptr_t>(address), bytes});
}

registration_statistics registration_cache::statistics() const noexcept {
  registration_statistics all = shared_->statistics();
  all.hits = hits_;
  all.misses = misses_;
  all.refusals = refusals_;
  return all;
}

void registration_cache::table::share_none_with_children() {
  detail::of_process<known_tables>::handle_forks();
}

std::shared_ptr<registration_cache::table> registration_cache::table::of(const rules& common) {
  auto& known = detail::of_process<known_tables>::get();
  const std::lock_guard hold{known.lock};
  std::erase_if(known.all, [](const auto& one) { return one.second.expired(); });
  for (const auto& [others, shared] : known.all)
    if (auto found = others == common ? shared.lock() : nullptr) return found;
  auto made = std::make_shared<table>(common);
  known.all.emplace_back(common, made);
  return made;
}

registration_cache::table::table(const rules& common)
    : rules_(common), guarantee_(common.guarantee), given_back_seen_(given_back().position()) {
  if (guarantee_ != registration_guarantee::watched) return;
  monitor_ = unmap_monitor::shared();
  if (monitor_)
    unmapped_seen_ = monitor_->position();
  else
    guarantee_ = registration_guarantee::per_operation;
}

std::pair<registration_cache::entry*, bool> registration_cache::table::find(std::uintptr_t first,
                                                                            std::uintptr_t last,
                                                                            rights wanted) {
  const std::lock_guard hold{mutex_};
  drop_stale();
  entry* found = known(wanted, first, last);
  // Memory that peers may read and write can also serve as a source.
  if (found == nullptr && wanted == rights::read) found = known(rights::remote, first, last);
  const bool was_there = found != nullptr;
  if (!was_there) found = &make(detail::page_of(first), detail::in_pages(last), wanted);
  ++found->users;
  found->last_used = ++clock_;
  return {found, was_there};
}

void registration_cache::table::release(entry& e) noexcept {
  const std::lock_guard hold{mutex_};
  if (--e.users != 0) return;
  if (e.leaving) {
    delete &e;
  } else if (!e.kept) {
    take_out(e);
  }
}

void registration_cache::table::forget(std::uintptr_t first, std::size_t bytes) noexcept {
  const std::lock_guard hold{mutex_};
  drop_range(first, bytes);
}

registration_statistics registration_cache::table::statistics() noexcept {
  const std::lock_guard hold{mutex_};
  return counts_;
}

registration_cache::entry* registration_cache::table::known(rights wanted, std::uintptr_t first,
                                                            std::uintptr_t last) noexcept {
  // No entry lies within another: among those that begin at or before `first`, the last to begin also ends
  // last.
  const auto& all = of(wanted);
  const auto at = all.upper_bound(first);
  return at != all.begin() && std::prev(at)->second->end >= last ? std::prev(at)->second.get() : nullptr;
}

registration_cache::entry& registration_cache::table::make(std::uintptr_t first, std::uintptr_t last,
                                                           rights wanted) {
  auto& all = of(wanted);
  // Entries that the new one covers are redundant.
  for (auto at = all.lower_bound(first); at != all.end() && at->first < last;) {
    const auto next = std::next(at);
    if (at->second->end <= last || at->first == first) take_out(*at->second);
    at = next;
  }
  make_room(last - first);
  // Watch before registering, so that no unmapping in between is missed.
  const bool kept =
      guarantee_ == registration_guarantee::by_address || (monitor_ && monitor_->watch(first, last - first));
  std::unique_ptr<entry> made;
  for (;;) {
    try {
      made = std::make_unique<entry>(
          *rules_.domain, first, last, wanted,
          wanted == rights::read ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_LOCAL_WRITE | rules_.remote_access);
      break;
    } catch (const error& e) {
      // Pinned memory is scarce: evict unused cached registrations first.
      if (e.code() == std::errc::not_enough_memory && evict_one()) continue;
      throw error(e.code(), e.reason() +
                                "; calls and windows use a copy of memory that the device does not "
                                "register. If the device does not register the copy either, set "
                                "CHORALE_ZERO_COPY_BYTES=1099511627776 (over rc_send_receive "
                                "CHORALE_SEND_RECEIVE_LONG=rendezvous) on all ranks: then calls copy it "
                                "through memory that the "
                                "library registers at the start");
    }
  }
  entry& result = *made;
  result.kept = kept;
  all.emplace(first, std::move(made));
  counts_.bytes += last - first;
  ++counts_.entries;
  return result;
}

void registration_cache::table::take_out(entry& e) noexcept {
  counts_.bytes -= e.end - e.begin;
  --counts_.entries;
  auto& from = of(e.kind);
  const auto at = from.find(e.begin);
  if (e.users != 0) {
    e.leaving = true;
    static_cast<void>(at->second.release());
  }
  from.erase(at);
}

bool registration_cache::table::evict_one() noexcept {
  entry* oldest = nullptr;
  for (const auto& all : all_)
    for (const auto& [begin, e] : all)
      if (e->users == 0 && (oldest == nullptr || e->last_used < oldest->last_used)) oldest = e.get();
  if (oldest == nullptr) return false;
  ++counts_.evictions;
  take_out(*oldest);
  return true;
}

void registration_cache::table::make_room(std::size_t bytes) noexcept {
  while ((counts_.entries >= rules_.most_entries || counts_.bytes + bytes > rules_.most_bytes) &&
         evict_one()) {
  }
}

void registration_cache::table::drop_stale() noexcept {
  const auto drop = [this](std::uintptr_t first, std::size_t bytes) { drop_range(first, bytes); };
  if (given_back_seen_ != given_back().position()) given_back().take(given_back_seen_, drop);
  if (monitor_) monitor_->take_unmapped(unmapped_seen_, drop);
}

void registration_cache::table::drop_range(std::uintptr_t first, std::size_t bytes) noexcept {
  const auto last = bytes > UINTPTR_MAX - first ? UINTPTR_MAX : first + bytes;
  for (auto& all : all_) {
    for (auto at = all.begin(); at != all.end() && at->first < last;) {
      const auto next = std::next(at);
      if (at->second->end > first) {
        ++counts_.invalidations;
        take_out(*at->second);
      }
      at = next;
    }
  }
}

}  // namespace chorale::transport
