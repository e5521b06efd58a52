// What may travel: element types, their bytes, and the tag of a type in the signature of a call.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace chorale {

/// A type whose values can be sent as bytes: trivially copyable, neither const nor a reference, and no
/// pointer or view (std::span, std::string_view), since an address means nothing to another rank. (Pointers
/// inside other structs cannot be seen from here.)
template <class T>
concept element = std::is_object_v<T> && std::is_trivially_copyable_v<T> && !std::is_const_v<T> &&
                  !std::is_volatile_v<T> && !std::is_pointer_v<T> && !std::is_member_pointer_v<T> &&
                  !std::is_null_pointer_v<T> && !std::is_array_v<T> && !std::ranges::enable_borrowed_range<T>;

/// The bytes of `data`, to be read: data.size() * sizeof(T) of them.
template <class T, std::size_t Extent>
requires element<std::remove_const_t<T>>
[[nodiscard]] std::span<const std::byte> bytes_of(std::span<T, Extent> data) noexcept {
  return std::as_bytes(data);
}

/// The bytes of `data`, to be written: data.size() * sizeof(T) of them.
template <element T, std::size_t Extent>
[[nodiscard]] std::span<std::byte> writable_bytes_of(std::span<T, Extent> data) noexcept {
  return std::as_writable_bytes(data);
}

/// Whether `address` may be used as a `T*`.
template <class T>
[[nodiscard]] bool is_aligned_for(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) % alignof(T) == 0;
}

/// What a type tag says of a type beside its size.
enum class type_kind : std::uint8_t {
  other = 0,  ///< structs, enumerations, std::byte, ...
  boolean = 1,
  character = 2,  ///< char: signed on one platform, unsigned on another
  signed_integer = 3,
  unsigned_integer = 4,  ///< also char8_t, char16_t, char32_t
  floating = 5,
  brain_floating = 6,  ///< bfloat16: the exponent of a float32
};

namespace detail {
/// What the 16-bit floating-point types of the compiler are, which std::floating_point does not know of.
template <class T>
inline constexpr type_kind short_float_kind = type_kind::other;
#if defined(__FLT16_MANT_DIG__)
template <>
inline constexpr type_kind short_float_kind<_Float16> = type_kind::floating;
#endif
#if defined(__BFLT16_MANT_DIG__) || (defined(__clang__) && __clang_major__ >= 17 && defined(__SSE2__))
#define CHORALE_HAS_BFLOAT16 1
template <>
inline constexpr type_kind short_float_kind<__bf16> = type_kind::brain_floating;
#endif
}  // namespace detail

/// std::floating_point, and _Float16 and __bf16 where the compiler has them.
template <class T>
concept floating = std::floating_point<T> || detail::short_float_kind<T>
!= type_kind::other;

/// The tag of T in the signature of a call: kind in the upper 8 bits, sizeof(T) in the lower 24 (the largest
/// value stands for all sizes above). It holds no name, so that it is equal in every rank whatever the
/// compiler; `long` and `long long` are one where they have one size, and all structs of a size are one.
template <element T>
[[nodiscard]] constexpr std::uint32_t type_tag() noexcept {
  constexpr auto kind = std::same_as<T, bool>       ? type_kind::boolean
                        : std::same_as<T, char>     ? type_kind::character
                        : std::floating_point<T>    ? type_kind::floating
                        : std::signed_integral<T>   ? type_kind::signed_integer
                        : std::unsigned_integral<T> ? type_kind::unsigned_integer
                                                    : detail::short_float_kind<T>;
  constexpr std::uint32_t size = sizeof(T) < 0xff'ffff ? static_cast<std::uint32_t>(sizeof(T)) : 0xff'ffffU;
  return static_cast<std::uint32_t>(kind) << 24 | size;
}

/// A type tag in words, for messages: "int32", "float64", "24-byte struct"; 0 is "no element type".
[[nodiscard]] inline std::string describe_type(std::uint32_t tag) {
  if (tag == 0) return "no element type";
  const std::uint32_t size = tag & 0xff'ffffU;
  const std::string bits = std::to_string(8 * size);
  switch (static_cast<type_kind>(tag >> 24)) {
    case type_kind::other:
      return std::to_string(size) + "-byte struct";
    case type_kind::boolean:
      return "bool";
    case type_kind::character:
      return "char";
    case type_kind::signed_integer:
      return "int" + bits;
    case type_kind::unsigned_integer:
      return "uint" + bits;
    case type_kind::floating:
      return "float" + bits;
    case type_kind::brain_floating:
      return "bfloat" + bits;
  }
  return "unknown type (tag " + std::to_string(tag) + ")";
}

namespace detail {
/// The compiler's spelling of T inside a fixed frame: equal in every rank that runs the same binary.
template <class T>
constexpr const char* spelling() noexcept {
  return __PRETTY_FUNCTION__;
}

/// FNV-1a, 32 bits.
constexpr std::uint32_t hash(const char* text) noexcept {
  std::uint32_t h = 2166136261U;
  for (; *text != '\0'; ++text) h = (h ^ static_cast<std::uint8_t>(*text)) * 16777619U;
  return h;
}
}  // namespace detail

}  // namespace chorale
