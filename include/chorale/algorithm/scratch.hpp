// SPDX-License-Identifier: Apache-2.0
// Temporary memory of a call.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include <chorale/transport/concepts.hpp>

namespace chorale {

/// Heap memory that calls of a communicator have returned, for later calls. An allocator gives long buffers
/// back to the system, and the page faults of getting them again can cost more than the call that needs them.
/// Each buffer lies in as few pages as possible, since pages are what a registration costs; so that cost does
/// not depend on what else the program has allocated. One thread at a time.
class kept_scratch {
 public:
  /// Frees a buffer.
  struct aligned_delete {
    std::align_val_t boundary;  ///< that the buffer was allocated with
    /// Frees `memory`.
    void operator()(std::byte* memory) const noexcept { ::operator delete(memory, boundary); }
  };
  /// Memory that is kept, or handed out.
  struct buffer {
    std::unique_ptr<std::byte[], aligned_delete> memory;  ///< null for zero bytes
    std::size_t bytes = 0;                                ///< how many
  };
  /// The most bytes that are kept; longer buffers are freed at once.
  static constexpr std::size_t most_bytes = std::size_t{16} << 20;

  /// The smallest kept buffer of at least `bytes`, else a new one; with indeterminate contents.
  /// @throws std::bad_alloc.
  [[nodiscard]] buffer take(std::size_t bytes) {
    buffer* best = nullptr;
    for (buffer& one : std::span{kept_}.first(count_))
      if (one.bytes >= bytes && (best == nullptr || one.bytes < best->bytes)) best = &one;
    if (best == nullptr) return {allocate(bytes), bytes};
    buffer found = std::move(*best);
    std::move(best + 1, kept_.data() + count_, best);
    --count_;
    total_ -= found.bytes;
    return found;
  }
  /// Keeps the buffer in place of those that were returned longest ago.
  void give_back(buffer one) noexcept {
    if (one.bytes > most_bytes) return;
    while (count_ == kept_.size() || total_ + one.bytes > most_bytes) {
      total_ -= kept_.front().bytes;
      std::move(kept_.begin() + 1, kept_.begin() + static_cast<std::ptrdiff_t>(count_), kept_.begin());
      kept_[--count_] = {};
    }
    total_ += one.bytes;
    kept_[count_++] = std::move(one);
  }

 private:
  static constexpr std::size_t page = 4096;

  static std::unique_ptr<std::byte[], aligned_delete> allocate(std::size_t bytes) {
    const std::align_val_t boundary{
        bytes >= page ? page : std::max(std::bit_ceil(bytes), std::size_t{__STDCPP_DEFAULT_NEW_ALIGNMENT__})};
    return {static_cast<std::byte*>(::operator new(bytes, boundary)), aligned_delete{boundary}};
  }

  std::array<buffer, 8> kept_;
  std::size_t count_ = 0;
  std::size_t total_ = 0;
};

/// Uninitialised heap memory for one call. It begins at a page if it has the size of one, else at a multiple
/// of its size, rounded up to a power of two.
class scratch {
 public:
  /// Zero bytes.
  scratch() = default;
  /// Takes `bytes` of the memory that `kept` has, which must outlive this object. @throws std::bad_alloc.
  scratch(kept_scratch& kept, std::size_t bytes) : kept_(&kept), buffer_(kept.take(bytes)), bytes_(bytes) {}
  scratch(scratch&& other) noexcept
      : kept_(std::exchange(other.kept_, nullptr)),
        buffer_(std::move(other.buffer_)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  scratch& operator=(scratch&& other) noexcept {
    std::swap(kept_, other.kept_);
    std::swap(buffer_, other.buffer_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~scratch() {
    if (kept_ != nullptr) kept_->give_back(std::move(buffer_));
  }

  /// The whole memory.
  [[nodiscard]] std::span<std::byte> memory() const noexcept { return {buffer_.memory.get(), bytes_}; }

 private:
  kept_scratch* kept_ = nullptr;
  kept_scratch::buffer buffer_;
  std::size_t bytes_ = 0;
};

/// `bytes` of temporary memory for the current call: the transport's if it provides such memory, else a
/// `scratch`. Use it for memory that grows with the message or with the number of ranks. `memory()` of the
/// returned object has these bytes, with indeterminate contents.
template <mailbox_transport Net>
[[nodiscard]] auto scratch_of(Net& net, std::size_t bytes) {
  if constexpr (scratch_transport<Net>)
    return net.scratch(bytes);
  else
    return bytes == 0 ? scratch{} : scratch{net.template state<kept_scratch>(), bytes};
}

/// Registered memory that the transport keeps between calls.
template <keeping_transport Net>
using kept_memory = decltype(std::declval<Net&>().keep(std::size_t{}));

/// At least `bytes` of such memory, the same in every call for the same `User`. It loses its contents when it
/// has to grow; references to it then stay valid.
template <class User, keeping_transport Net>
[[nodiscard]] kept_memory<Net>& kept_memory_of(Net& net, std::size_t bytes) {
  struct kept {
    std::optional<kept_memory<Net>> memory;
  };
  auto& memory = net.template state<kept>().memory;
  if (!memory || memory->memory().size() < bytes) {
    memory.reset();
    memory.emplace(net.keep(bytes));
  }
  return *memory;
}

}  // namespace chorale
