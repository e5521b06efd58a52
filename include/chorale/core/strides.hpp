// SPDX-License-Identifier: Apache-2.0
// Where the bytes of an operand with strides lie in memory.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace chorale {

/// `count` steps, each beginning `stride` elements after the one before; a negative stride goes back.
struct steps {
  std::size_t count = 0;      ///< how many
  std::ptrdiff_t stride = 0;  ///< in elements

  constexpr steps() = default;
  /// Of any integers. A negative count is refused where the steps are used.
  template <std::integral Count, std::integral Stride>
  constexpr steps(Count how_many, Stride elements) noexcept
      : count(static_cast<std::size_t>(how_many)), stride(static_cast<std::ptrdiff_t>(elements)) {}
};

/// The places of an operand's bytes, relative to its first element: runs of contiguous bytes, in up to five
/// nested loops. Contiguous unless made otherwise. The *packed* bytes are these bytes one after the other, in
/// the order of the loops.
class strides {
 public:
  static constexpr std::size_t most_dimensions = 5;  ///< the number of loops, at most

  /// Contiguous. The other members are not initialized: nothing reads them, and a message without strides
  /// costs no more than one store.
  constexpr strides() noexcept {}  // NOLINT(cppcoreguidelines-pro-type-member-init)
  /// Blocks of `block` elements of `one` bytes each, in `loops`, the outermost first. Loops that continue
  /// where the inner one ends are joined with it. @throws error errc::invalid_argument if there are more than
  /// `most_dimensions` of more than one step, or a number of bytes overflows.
  strides(std::span<const steps> loops, std::size_t block, std::size_t one);

  [[nodiscard]] constexpr bool is_contiguous() const noexcept { return depth_ == 0; }
  /// Whether no byte occurs twice, by a sufficient condition: each loop steps over all of the next smaller
  /// one.
  [[nodiscard]] bool is_disjoint() const noexcept;
  /// The first byte, and the one past the last, relative to the first element. `bytes`: of all elements.
  [[nodiscard]] std::pair<std::ptrdiff_t, std::ptrdiff_t> range(std::size_t bytes) const noexcept;

  /// Copies packed bytes [at, at + to.size()) of the operand at `first` to `to`.
  void pack(const std::byte* first, std::size_t at, std::span<std::byte> to) const noexcept;
  /// Copies `from` to packed bytes [at, at + from.size()) of the operand at `first`.
  void unpack(std::byte* first, std::size_t at, std::span<const std::byte> from) const noexcept;

 private:
  struct loop {
    std::size_t count;
    std::ptrdiff_t stride;  ///< in bytes
  };
  template <class Use>
  void each_row(std::size_t at, std::size_t count, const Use& use) const noexcept;

  std::uint32_t depth_ = 0;  ///< loops, the outermost first
  std::size_t run_;          ///< contiguous bytes
  std::array<loop, most_dimensions> loops_;
};

namespace detail {
/// count * size in bytes. @throws error errc::invalid_argument on overflow.
std::size_t bytes_of_steps(std::span<const steps> loops, std::size_t block, std::size_t one);
/// @throws error errc::invalid_argument unless the bytes of `where` lie in the `room` bytes from the first
/// element on. `bytes`: of all elements.
void check_strides_fit(const strides& where, std::size_t bytes, std::size_t room);
/// @throws error errc::invalid_argument unless `where` can receive: no byte may occur twice.
void check_strides_receive(const strides& where);
}  // namespace detail

}  // namespace chorale
