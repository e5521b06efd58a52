// SPDX-License-Identifier: Apache-2.0
// Registrations of user memory that outlive the operation that made them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <utility>

#include <chorale/core/config.hpp>
#include <chorale/transport/concepts.hpp>
#include <chorale/verbs/memory_region.hpp>
#include <chorale/verbs/protection_domain.hpp>

namespace chorale::transport {

class progress_engine;

/// Held next to memory of a call that peers or the device may be using. If an exception destroys it, such as
/// one of the algorithm itself (an operator throws, a message does not fit), the transport withdraws all
/// memory at once, since the exception may destroy that memory next. Move-only.
class withdrawal_guard {
 public:
  /// Guards nothing.
  withdrawal_guard() = default;
  explicit withdrawal_guard(progress_engine& engine) noexcept
      : engine_(&engine), exceptions_(std::uncaught_exceptions()) {}
  withdrawal_guard(withdrawal_guard&& other) noexcept
      : engine_(std::exchange(other.engine_, nullptr)), exceptions_(other.exceptions_) {}
  withdrawal_guard& operator=(withdrawal_guard&& other) noexcept {
    std::swap(engine_, other.engine_);
    std::swap(exceptions_, other.exceptions_);
    return *this;
  }
  ~withdrawal_guard() {
    if (engine_ != nullptr && std::uncaught_exceptions() != 0) [[unlikely]]
      end();
  }
  void dismiss() noexcept { engine_ = nullptr; }

 private:
  void end() const noexcept;

  progress_engine* engine_ = nullptr;
  int exceptions_ = 0;  ///< number of exceptions in flight at construction
};

/// Why a cached registration stays valid although the program may free, remap or reuse its memory.
enum class registration_guarantee {
  /// The device translates addresses at each access: soft0, on-demand paging.
  by_address,
  /// The kernel reports each unmapping before it completes (userfaultfd): munmap, mmap over it, mremap,
  /// madvise(MADV_DONTNEED, MADV_FREE, MADV_REMOVE). It does not report hole punching or truncation of files,
  /// nor shmdt() and shmat(SHM_REMAP). The registered pages become a separate mapping: mremap of a range that
  /// only partly consists of them fails with EFAULT, whereupon realloc copies.
  watched,
  per_operation,  ///< none: registrations last for one operation only
};
const char* describe(registration_guarantee g) noexcept;

/// Statistics of a registration cache: hits, misses and refusals are its own; the other counters are common
/// to all caches that share its registrations. A transport with two devices has two caches, and its
/// `registrations()` are those of the adapter.
struct registration_statistics {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;         ///< memory that had to be registered
  std::uint64_t refusals = 0;       ///< memory that the device did not register, so that calls copied it
  std::uint64_t evictions = 0;      ///< evicted to stay within the limits
  std::uint64_t invalidations = 0;  ///< dropped because their memory was unmapped
  std::size_t entries = 0;
  std::size_t bytes = 0;  ///< currently registered
};

/// Registers whole pages and caches the registrations with least-recently-used eviction, within
/// `config::registration_entries` and `config::registration_bytes`. Entries in use are never evicted and may
/// exceed the limits. Caches of a process share the registrations of a protection domain, if their settings
/// agree: communicators split from another find its registrations. Handles must be destroyed before the
/// cache. One thread at a time per cache. Source: P4 sections 3.4 and 5.2 show the need for it.
class registration_cache {
 public:
  /// `read`: a source of local transfers and of peers' reads; may be read-only memory. `remote`: peers read
  /// and write.
  enum class rights { read, remote };
  struct entry;
  /// Pins an entry. Empty for zero bytes.
  class handle {
   public:
    handle() = default;
    handle(registration_cache& owner, entry& e) noexcept;
    handle(handle&& other) noexcept;
    handle& operator=(handle&& other) noexcept;
    ~handle();
    [[nodiscard]] std::uint32_t lkey() const noexcept;
    [[nodiscard]] std::uint32_t rkey() const noexcept;
    explicit operator bool() const noexcept { return entry_ != nullptr; }

   private:
    registration_cache* owner_ = nullptr;
    entry* entry_ = nullptr;
  };

  /// `remote_access`: what peers may do with memory of `rights::remote`, as `verbs::device::remote_access`.
  registration_cache(const verbs::protection_domain& domain, const config& settings, bool by_address,
                     int remote_access);
  /// The guarantee that caches of this process give with these settings; arguments as above.
  static registration_guarantee guarantee_with(const config& settings, bool by_address);
  registration_cache(const registration_cache&) = delete;
  registration_cache& operator=(const registration_cache&) = delete;
  ~registration_cache();

  /// A registration of `memory` with at least these rights, made if there is none. Zero bytes need none.
  /// @throws error as verbs::memory_region.
  handle find(std::span<const std::byte> memory, rights wanted);
  /// Call before memory is returned to a device: none of its registrations is used again, in this or any
  /// other cache of the process. Required for device memory with every guarantee, since the kernel or the
  /// device may access such memory other than by its address.
  void forget(const void* address, std::size_t bytes) noexcept;
  /// The same for all other caches of the process only.
  static void note_given_back(const void* address, std::size_t bytes) noexcept;

  [[nodiscard]] registration_guarantee guarantee() const noexcept { return guarantee_; }
  [[nodiscard]] registration_statistics statistics() const noexcept;

 private:
  class table;

  void release(entry& e) noexcept;

  std::shared_ptr<table> shared_;
  registration_guarantee guarantee_;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  std::uint64_t refusals_ = 0;
};

/// Memory that peers may write and read (`rc::expose`), only read (`rc::offer`), or that is a source of
/// transfers (`rc::lend`), during the lifetime of this object. If an exception destroys it, all access to
/// this rank's memory ends, since the call that made it fails. Move-only.
class exposure {
 public:
  /// `near`: the registration for the ranks of this rank's place, if they use a device of their own.
  exposure(registration_cache::handle registration, registration_cache::handle near,
           std::span<const std::byte> memory, int owner) noexcept
      : registration_(std::move(registration)), near_(std::move(near)), memory_(memory), owner_(owner) {}
  /// Owns its registrations, which cover exactly these bytes; null for zero bytes.
  exposure(std::unique_ptr<verbs::memory_region> alone, std::unique_ptr<verbs::memory_region> near_alone,
           std::span<const std::byte> memory, int owner) noexcept
      : alone_(std::move(alone)), near_alone_(std::move(near_alone)), memory_(memory), owner_(owner) {}
  /// Marks it as memory of a call. Only the guard withdraws access: the registration stays in the cache.
  void guarded_by(withdrawal_guard guard) noexcept { guard_ = std::move(guard); }
  /// Detaches it from any call: an exception that destroys it does not fail a call.
  [[nodiscard]] exposure beyond_calls() && noexcept {
    guard_.dismiss();
    return std::move(*this);
  }
  /// The region that peers need to know.
  [[nodiscard]] remote_region region() const noexcept {
    return {reinterpret_cast<std::uintptr_t>(memory_.data()), memory_.size(),
            registration_ ? registration_.rkey()
            : alone_      ? alone_->rkey()
                          : 0,
            owner_,
            near_         ? near_.rkey()
            : near_alone_ ? near_alone_->rkey()
                          : 0};
  }
  [[nodiscard]] std::uint32_t lkey() const noexcept {
    return registration_ ? registration_.lkey() : alone_ ? alone_->lkey() : 0;
  }
  /// The same for transfers to and from the ranks of this rank's place.
  [[nodiscard]] std::uint32_t near_lkey() const noexcept {
    return near_ ? near_.lkey() : near_alone_ ? near_alone_->lkey() : 0;
  }
  /// True if it contains all of `part`.
  [[nodiscard]] bool contains(std::span<const std::byte> part) const noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.data());
    const auto at = reinterpret_cast<std::uintptr_t>(part.data());
    return part.empty() ||
           (at >= begin && part.size() <= memory_.size() && at - begin <= memory_.size() - part.size());
  }

 private:
  registration_cache::handle registration_;
  registration_cache::handle near_;
  std::unique_ptr<verbs::memory_region> alone_;
  std::unique_ptr<verbs::memory_region> near_alone_;
  std::span<const std::byte> memory_;
  int owner_;
  withdrawal_guard guard_;
};

}  // namespace chorale::transport
