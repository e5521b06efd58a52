// Memory regions of user memory that outlive the operation they were made for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <chorale/core/config.hpp>
#include <chorale/transport/concepts.hpp>
#include <chorale/transport/withdrawal_guard.hpp>
#include <chorale/verbs/memory_region.hpp>
#include <chorale/verbs/protection_domain.hpp>

namespace chorale::transport {

class unmap_monitor;

/// Why a cached registration is right although the program may free, remap or reuse its memory.
enum class registration_guarantee {
  /// The device finds the pages by their address at each access: soft0, on-demand paging.
  by_address,
  /// The kernel tells of each unmapping before it is over (userfaultfd): munmap, mmap over it, mremap,
  /// madvise(MADV_DONTNEED, MADV_FREE, MADV_REMOVE). Not of holes punched into a file or of one cut short.
  /// The registered pages become an area of their own: mremap of a stretch that they are only a part of fails
  /// with EFAULT, whereupon realloc copies.
  watched,
  per_operation,  ///< none: nothing is kept longer than an operation
};
const char* describe(registration_guarantee g) noexcept;

/// What a registration cache has done so far.
struct registration_statistics {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;         ///< memory that had to be registered
  std::uint64_t evictions = 0;      ///< given up to stay within the bounds
  std::uint64_t invalidations = 0;  ///< given up because their memory was unmapped
  std::size_t entries = 0;
  std::size_t bytes = 0;  ///< registered at present
};

/// Registers whole pages and keeps the registrations, least recently used first to go, within
/// `config::registration_entries` and `config::registration_bytes`. Entries in use are never given up: the
/// bounds may be exceeded by them. Handles end before the cache. One thread at a time. Source: P4 sections
/// 3.4 and 5.2 for the need of it.
class registration_cache {
 public:
  /// `read`: a source, of transfers from here and for peers' reads; it may be read-only memory. `remote`:
  /// peers read and write.
  enum class rights { read, remote };
  struct entry;
  /// Keeps an entry in use. Empty for zero bytes.
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

  registration_cache(const verbs::protection_domain& domain, const config& settings, bool by_address);
  registration_cache(const registration_cache&) = delete;
  registration_cache& operator=(const registration_cache&) = delete;
  ~registration_cache();

  /// A registration of `memory` with at least these rights, made if there is none. Zero bytes need none.
  /// @throws error as verbs::memory_region.
  handle find(std::span<const std::byte> memory, rights wanted);
  /// Memory that is about to be given back to a device: none of its registrations is used again, in this
  /// cache or any other of the process. For memory from devices it is needed with every guarantee, since the
  /// kernel or the device may see such memory otherwise than by its address.
  void forget(const void* address, std::size_t bytes) noexcept;
  /// The same for the other caches of the process alone.
  static void note_given_back(const void* address, std::size_t bytes) noexcept;

  [[nodiscard]] registration_guarantee guarantee() const noexcept { return guarantee_; }
  [[nodiscard]] registration_statistics statistics() const noexcept;

 private:
  struct tables;

  void release(entry& e) noexcept;
  entry* known(rights wanted, std::uintptr_t first, std::uintptr_t last) noexcept;
  handle use(entry& e) noexcept;
  entry& make(std::uintptr_t first, std::uintptr_t last, rights wanted);
  void take_out(entry& e) noexcept;
  void make_room(std::size_t bytes) noexcept;
  bool evict_one() noexcept;
  void drop_stale() noexcept;
  void drop_range(std::uintptr_t first, std::size_t bytes) noexcept;

  const verbs::protection_domain* domain_;
  std::size_t most_entries_;
  std::size_t most_bytes_;
  registration_guarantee guarantee_;
  std::shared_ptr<unmap_monitor> monitor_;
  std::uint64_t unmapped_seen_ = 0;
  std::uint64_t given_back_seen_ = 0;
  std::unique_ptr<tables> tables_;
  std::uint64_t clock_ = 0;
  registration_statistics counts_;
};

/// Memory that peers may write to and read from (`rc::expose`), only read (`rc::offer`), or that is a source
/// of transfers (`rc::lend`), until this ends. One that an exception ends ends all access to this rank's
/// memory, since the call fails in which it was made. Move-only.
class exposure {
 public:
  exposure(registration_cache::handle registration, std::span<const std::byte> memory, int owner) noexcept
      : registration_(std::move(registration)), memory_(memory), owner_(owner) {}
  /// Of a registration of its own, which ends with it and covers these bytes and no others; null for zero
  /// bytes.
  exposure(std::unique_ptr<verbs::memory_region> alone, std::span<const std::byte> memory, int owner) noexcept
      : alone_(std::move(alone)), memory_(memory), owner_(owner) {}
  /// Memory of a call. It does not end what is registered with it: the cache keeps that.
  void guarded_by(withdrawal_guard guard) noexcept { guard_ = std::move(guard); }
  /// It belongs to no call: an exception that ends it is no failure of one.
  [[nodiscard]] exposure beyond_calls() && noexcept {
    guard_.dismiss();
    return std::move(*this);
  }
  /// What a peer needs to know.
  [[nodiscard]] remote_region region() const noexcept {
    return {reinterpret_cast<std::uintptr_t>(memory_.data()), memory_.size(),
            registration_ ? registration_.rkey()
            : alone_      ? alone_->rkey()
                          : 0,
            owner_};
  }
  [[nodiscard]] std::uint32_t lkey() const noexcept {
    return registration_ ? registration_.lkey() : alone_ ? alone_->lkey() : 0;
  }
  /// True if all of `part` lies in it.
  [[nodiscard]] bool contains(std::span<const std::byte> part) const noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.data());
    const auto at = reinterpret_cast<std::uintptr_t>(part.data());
    return part.empty() ||
           (at >= begin && part.size() <= memory_.size() && at - begin <= memory_.size() - part.size());
  }

 private:
  registration_cache::handle registration_;
  std::unique_ptr<verbs::memory_region> alone_;
  std::span<const std::byte> memory_;
  int owner_;
  withdrawal_guard guard_;
};

}  // namespace chorale::transport
