// Temporary memory of a call.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <chorale/transport/concepts.hpp>

namespace chorale {

/// Uninitialised heap memory, which an algorithm writes before it reads; unlike a vector, it is not
/// zero-filled first. Aligned as by operator new.
class scratch {
 public:
  /// Allocates `bytes` with indeterminate contents. @throws std::bad_alloc.
  explicit scratch(std::size_t bytes)
      : memory_(std::make_unique_for_overwrite<std::byte[]>(bytes)), bytes_(bytes) {}

  /// The whole buffer.
  [[nodiscard]] std::span<std::byte> memory() const noexcept { return {memory_.get(), bytes_}; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_;
};

/// `bytes` of temporary memory for the current call: the transport's if it provides such memory, else a
/// `scratch`. Use it for memory that grows with the number of ranks. `memory()` of the returned object is the
/// buffer.
template <mailbox_transport Net>
[[nodiscard]] auto scratch_of([[maybe_unused]] Net& net, std::size_t bytes) {
  if constexpr (scratch_transport<Net>)
    return net.scratch(bytes);
  else
    return scratch{bytes};
}

}  // namespace chorale
