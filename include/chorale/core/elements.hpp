// SPDX-License-Identifier: Apache-2.0
// Elements whose size is known only at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <chorale/core/types.hpp>

namespace chorale {

namespace detail {
/// @throws error errc::invalid_argument unless `bytes` is a whole number of elements of `size` bytes, and
/// `type` is 0 or the tag of a type of that size.
void check_elements(std::size_t bytes, std::size_t size, std::uint32_t type = 0);
/// count * size. @throws error errc::invalid_argument on overflow, or if size is 0.
std::size_t bytes_of_elements(std::size_t count, std::size_t size);
}  // namespace detail

/// A buffer of elements whose size is known only at run time: for runtimes, language bindings and MPI layers.
/// `elements{bytes, size}` replaces a typed span; reductions combine it with a `byte_operator`. `Byte` is
/// std::byte, or const std::byte for buffers that are only read.
///
/// In the signature of a call an element counts as a struct of `size` bytes, unless `type` is given:
/// `type_tag<double>()` makes it match ranks that pass doubles, and distinguishes int32 from float32. It is a
/// view, and does not affect alignment.
template <class Byte>
class elements {
  static_assert(std::is_same_v<std::remove_const_t<Byte>, std::byte>,
                "elements are of std::byte or const std::byte");

 public:
  /// `bytes`: a whole number of elements of `size` bytes each, possibly zero; `size` is at least 1.
  elements(std::span<Byte> bytes, std::size_t size, std::uint32_t type = 0)
      : bytes_(bytes), size_(size), type_(type) {
    detail::check_elements(bytes.size(), size, type);
  }
  /// `count` elements of `size` bytes each at `data`.
  elements(std::conditional_t<std::is_const_v<Byte>, const void*, void*> data, std::size_t count,
           std::size_t size, std::uint32_t type = 0)
      : elements({static_cast<Byte*>(data), detail::bytes_of_elements(count, size)}, size, type) {}
  /// A writable buffer converts to a read-only one.
  elements(const elements<std::byte>& other) noexcept  // NOLINT(google-explicit-constructor)
      requires std::is_const_v<Byte>
      : bytes_(other.bytes()), size_(other.element_bytes()), type_(other.type()) {}

  /// The bytes of all elements.
  [[nodiscard]] std::span<Byte> bytes() const noexcept { return bytes_; }
  /// Bytes of one element.
  [[nodiscard]] std::size_t element_bytes() const noexcept { return size_; }
  /// Number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() / size_; }
  /// The type tag for the signature of a call, as `type_tag` gives for types.
  [[nodiscard]] std::uint32_t type() const noexcept {
    return type_ != 0 ? type_ : detail::type_tag_of(type_kind::other, size_);
  }

 private:
  std::span<Byte> bytes_;
  std::size_t size_;
  std::uint32_t type_;
};
template <class Byte, std::size_t Extent>
elements(std::span<Byte, Extent>, std::size_t, std::uint32_t = 0) -> elements<Byte>;
elements(void*, std::size_t, std::size_t, std::uint32_t = 0) -> elements<std::byte>;
elements(const void*, std::size_t, std::size_t, std::uint32_t = 0) -> elements<const std::byte>;

namespace detail {
// It is a view, so it must not itself be sent as an element.
template <class Byte>
inline constexpr bool parts_are_elements<elements<Byte>> = false;
}  // namespace detail

}  // namespace chorale
