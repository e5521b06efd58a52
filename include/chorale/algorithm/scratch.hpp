// Memory of a call's own.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <chorale/transport/concepts.hpp>

namespace chorale {

/// Memory of the heap that an algorithm fills before it reads it: unlike a vector's its bytes are written
/// only once. At least as aligned as that of operator new.
class scratch {
 public:
  /// So many bytes, of any contents. @throws std::bad_alloc.
  explicit scratch(std::size_t bytes)
      : memory_(std::make_unique_for_overwrite<std::byte[]>(bytes)), bytes_(bytes) {}

  /// All of them.
  [[nodiscard]] std::span<std::byte> memory() const noexcept { return {memory_.get(), bytes_}; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_;
};

/// So many bytes for the call in which this is asked: of the transport if it has such memory, else a
/// `scratch`. For what grows with the number of ranks; `memory()` of what is returned are they.
template <mailbox_transport Net>
[[nodiscard]] auto scratch_of([[maybe_unused]] Net& net, std::size_t bytes) {
  if constexpr (scratch_transport<Net>)
    return net.scratch(bytes);
  else
    return scratch{bytes};
}

}  // namespace chorale
