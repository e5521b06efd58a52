// Types that can be sent: element types, their bytes, and their tags in the signature of a call.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace chorale {

/// Opts in a type whose bytes are its value although std::is_trivially_copyable says no, such as a struct
/// with a user-written copy constructor: `template <> inline constexpr bool chorale::enable_element<T> =
/// true;`. You promise that a value whose bytes are copied to other storage, also on another rank, is the
/// same value there, and that no destructor need run for it. The library opts in std::pair and std::tuple.
template <class T>
inline constexpr bool enable_element = false;

namespace detail {
/// False for a library template if one of its component types cannot be sent.
template <class T>
inline constexpr bool parts_are_elements = true;

/// Types whose interface shows that they refer to something elsewhere: std::span, std::string_view and
/// std::reference_wrapper.
template <class T>
concept refers_elsewhere = std::ranges::enable_borrowed_range<T> || requires(const T& reference) {
  { reference.get() } -> std::same_as<typename T::type&>;
};

/// std::complex and types like it: a real and an imaginary part of one type and nothing else. Recognized by
/// interface, since <complex> would add 9,000 lines to every program.
template <class T>
concept complex_number = requires(const T& number) {
  typename T::value_type;
  { number.real() } -> std::same_as<typename T::value_type>;
  { number.imag() } -> std::same_as<typename T::value_type>;
  requires sizeof(T) == 2 * sizeof(typename T::value_type);
};
}  // namespace detail

/// A type whose values can be sent as bytes: trivially copyable or opted in by `enable_element`, neither
/// const nor a reference, not polymorphic, and not a pointer or view (std::span, std::string_view), since an
/// address means nothing to another rank. A std::pair, std::tuple, std::array or std::complex is an element
/// if its parts are. (Pointers inside other structs cannot be detected.)
template <class T>
concept element = std::is_object_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T> &&
                  !std::is_pointer_v<T> && !std::is_member_pointer_v<T> && !std::is_null_pointer_v<T> &&
                  !std::is_array_v<T> && !std::is_polymorphic_v<T> && detail::parts_are_elements<T> &&
                  ((std::is_trivially_copyable_v<T> && !detail::refers_elsewhere<T>) || enable_element<T>);

namespace detail {
template <class A, class B>
inline constexpr bool parts_are_elements<std::pair<A, B>> = element<A> && element<B>;
template <class... Parts>
inline constexpr bool parts_are_elements<std::tuple<Parts...>> = (element<Parts> && ...);
template <class T, std::size_t N>
inline constexpr bool parts_are_elements<std::array<T, N>> = element<T>;
template <complex_number T>
inline constexpr bool parts_are_elements<T> = element<typename T::value_type>;
template <class T>
inline constexpr bool parts_are_elements<std::initializer_list<T>> = false;
}  // namespace detail

// std::pair and std::tuple are not trivially copyable only because of their assignment operators: their copy
// constructors and destructors are trivial if those of their parts are. That makes them implicit-lifetime
// classes: std::memcpy into storage begins the lifetime of an object there and of its parts, and the value of
// each part is that of its bytes, since each part is an element.
template <class A, class B>
inline constexpr bool enable_element<std::pair<A, B>> = true;
template <class... Parts>
inline constexpr bool enable_element<std::tuple<Parts...>> = true;
template <class T, std::size_t N>
inline constexpr bool enable_element<std::array<T, N>> = true;

/// The data.size() * sizeof(T) bytes of `data`, read-only.
template <class T, std::size_t Extent>
requires element<std::remove_const_t<T>>
[[nodiscard]] std::span<const std::byte> bytes_of(std::span<T, Extent> data) noexcept {
  return std::as_bytes(data);
}

/// Whether `address` is aligned for a `T`.
template <class T>
[[nodiscard]] bool is_aligned_for(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) % alignof(T) == 0;
}

/// What a type tag records of a type besides its size.
enum class type_kind : std::uint8_t {
  other = 0,             ///< structs, enumerations, std::byte, ...
  boolean = 1,           ///< bool
  character = 2,         ///< char: signed on one platform, unsigned on another
  signed_integer = 3,    ///< any size
  unsigned_integer = 4,  ///< also char8_t, char16_t, char32_t
  floating = 5,          ///< any size
  brain_floating = 6,    ///< bfloat16: the exponent of a float32
  complex = 7,           ///< std::complex and types with its interface
  pair = 8,              ///< std::pair and `placed`
};

namespace detail {
/// Kind of the compiler's 16-bit floating-point types, which std::floating_point does not cover.
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
concept floating = std::floating_point<T> || detail::short_float_kind<T> != type_kind::other;

namespace detail {
/// The two parts of a std::pair, or of a type with the same memory layout.
template <class T>
struct pair_parts {
  static constexpr bool exist = false;
};
template <class A, class B>
struct pair_parts<std::pair<A, B>> {
  static constexpr bool exist = true;
  using first = A;
  using second = B;
};

template <class T>
constexpr type_kind kind_of() noexcept {
  if (std::same_as<T, bool>) return type_kind::boolean;
  if (std::same_as<T, char>) return type_kind::character;
  if (std::floating_point<T>) return type_kind::floating;
  if (std::signed_integral<T>) return type_kind::signed_integer;
  if (std::unsigned_integral<T>) return type_kind::unsigned_integer;
  if (complex_number<T>) return type_kind::complex;
  if (pair_parts<T>::exist) return type_kind::pair;
  return short_float_kind<T>;
}

/// Kind and size in 12 bits; the largest size stands for all larger ones.
template <class T>
constexpr std::uint32_t short_type_tag() noexcept {
  return static_cast<std::uint32_t>(kind_of<T>()) << 8 |
         static_cast<std::uint32_t>(sizeof(T) < 0xff ? sizeof(T) : 0xff);
}

/// The tag of a type of that kind and size in bytes.
constexpr std::uint32_t type_tag_of(type_kind kind, std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>(kind) << 24 |
         (bytes < 0xff'ffff ? static_cast<std::uint32_t>(bytes) : 0xff'ffffU);
}
}  // namespace detail

/// The tag of T in the signature of a call: the kind in the upper 8 bits and sizeof(T) in the lower 24 (the
/// largest value stands for all larger sizes), or kinds and sizes of the two parts of a pair. It contains no
/// name, so that it is equal on all ranks whatever the compiler; `long` and `long long` share a tag if they
/// have the same size, and so do all structs of one size.
template <element T>
[[nodiscard]] constexpr std::uint32_t type_tag() noexcept {
  using parts = detail::pair_parts<T>;
  if constexpr (parts::exist)
    return static_cast<std::uint32_t>(type_kind::pair) << 24 |
           detail::short_type_tag<typename parts::first>() << 12 |
           detail::short_type_tag<typename parts::second>();
  else
    return detail::type_tag_of(detail::kind_of<T>(), sizeof(T));
}

/// A type tag in words, for messages: "int32", "float64", "24-byte struct", "complex of float64", "pair of
/// float64 and int32"; 0 is "no element type".
[[nodiscard]] std::string describe_type(std::uint32_t tag);

}  // namespace chorale
