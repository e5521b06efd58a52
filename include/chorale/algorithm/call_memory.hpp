// SPDX-License-Identifier: Apache-2.0
// Memory that the device accesses during a call, replaced by a copy if the device refuses to register it.
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <chorale/algorithm/scratch.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/host_memory.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::transfer {

/// Memory that is registered during a call: the memory given or, if the device refuses to register it (a
/// mapped file, memory of another device, the limit of locked memory), a *substitute*: memory of this rank
/// into which the bytes are copied. Peers see no difference, so they need not agree on it. Made by `expose`,
/// `offer` and `lend`, which replace the operations of the transport of the same name. Move-only. `Byte` is
/// std::byte or const std::byte.
template <one_sided_transport Net, class Byte>
class call_memory {
  using registration = decltype(std::declval<Net&>().lend(std::span<const std::byte>{}));
  using substitute = decltype(chorale::scratch_of(std::declval<Net&>(), std::size_t{}));

 public:
  /// `enter(memory)` registers memory. @throws error that of registering `given`, if a substitute cannot be
  /// registered either.
  template <class Enter>
  call_memory(Net& net, std::span<Byte> given, const Enter& enter)
      : given_(given), registered_(entered(net, enter)) {}

  /// What the device and peers access instead of the memory given: that memory or its substitute.
  [[nodiscard]] std::span<Byte> memory() const noexcept {
    return substitute_ ? std::span<Byte>{substitute_->memory()} : given_;
  }
  /// What peers need to know to access it.
  [[nodiscard]] remote_region region() const noexcept { return registered_.region(); }
  /// The source or target of operations of the transport.
  operator const registration&() const noexcept { return registered_; }

  /// `part` of the memory given; if there is a substitute, `part` is first copied into it, and that copy is
  /// returned.
  [[nodiscard]] std::span<const std::byte> current(std::span<const std::byte> part) const noexcept {
    if (!substitute_ || part.empty()) return part;
    const auto at = static_cast<std::size_t>(part.data() - given_.data());
    const auto copy = substitute_->memory().subspan(at, part.size());
    chorale::copy_bytes(copy.data(), part.data(), part.size());
    return copy;
  }
  /// Copies the contents of the substitute, if there is one, to the memory given.
  void copy_back() const noexcept requires(!std::is_const_v<Byte>) {
    if (substitute_) chorale::move_bytes(given_, substitute_->memory());
  }
  /// The same for the blocks of `layout` only, since nothing may be written between blocks.
  void copy_back(const block_layout& layout) const noexcept requires(!std::is_const_v<Byte>) {
    if (!substitute_) return;
    const blocks<std::byte> target{given_, layout};
    const blocks<std::byte> source{substitute_->memory(), layout};
    for (int r = 0; r < layout.ranks(); ++r) chorale::move_bytes(target[r], source[r]);
  }

 private:
  template <class Enter>
  registration entered(Net& net, const Enter& enter) {
    std::exception_ptr refusal;
    try {
      return enter(given_);
    } catch (const error&) {
      refusal = std::current_exception();
    }
    // Memory of a GPU, which no device here can register, cannot be copied either.
    detail::require_readable(given_);
    try {
      substitute_.emplace(chorale::scratch_of(net, given_.size()));
      return enter(substitute_->memory());
    } catch (...) {
      std::rethrow_exception(refusal);
    }
  }

  std::span<Byte> given_;
  std::optional<substitute> substitute_;  ///< before the registration, which ends first
  registration registered_;
};

/// Registers `memory` that peers may write and read, as `net.expose`. From then on the call uses `memory`,
/// which is replaced if there is a substitute. Call `copy_back` once it contains everything that the caller
/// is to receive.
template <one_sided_transport Net>
[[nodiscard]] auto expose(Net& net, std::span<std::byte>& memory) {
  call_memory<Net, std::byte> made{net, memory, [&](std::span<std::byte> all) { return net.expose(all); }};
  static_cast<void>(made.current(memory));
  memory = made.memory();
  return made;
}
/// The same for blocks, from the start of their buffer to the end of the last.
template <one_sided_transport Net>
[[nodiscard]] auto expose(Net& net, blocks<std::byte>& all) {
  auto memory = all.buffer().first(all.layout().end());
  auto made = transfer::expose(net, memory);
  all = {memory, all.layout()};
  return made;
}
/// Registers `memory` that peers may read, as `net.offer`; it must already contain what they are to read.
/// From then on the call uses `memory`, which is replaced if there is a substitute.
template <one_sided_transport Net>
[[nodiscard]] auto offer(Net& net, std::span<const std::byte>& memory) {
  call_memory<Net, const std::byte> made{net, memory,
                                         [&](std::span<const std::byte> all) { return net.offer(all); }};
  static_cast<void>(made.current(memory));
  memory = made.memory();
  return made;
}
/// The same for blocks, from the start of their buffer to the end of the last.
template <one_sided_transport Net>
[[nodiscard]] auto offer(Net& net, blocks<const std::byte>& all) {
  auto memory = all.buffer().first(all.layout().end());
  auto made = transfer::offer(net, memory);
  all = {memory, all.layout()};
  return made;
}
/// Registers `memory` that is only a source of puts, as `net.lend`. Put `current(part)` in place of each part
/// of it.
template <one_sided_transport Net>
[[nodiscard]] auto lend(Net& net, std::span<const std::byte> memory) {
  return call_memory<Net, const std::byte>{net, memory,
                                           [&](std::span<const std::byte> all) { return net.lend(all); }};
}

}  // namespace chorale::transfer
