// SPDX-License-Identifier: Apache-2.0
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

/// Opts in a type whose bytes are its value although the compiler cannot see it, such as a class with
/// constructors: `template <> inline constexpr bool chorale::enable_element<Type> = true;`. You promise that
/// a value whose bytes are copied to other storage, also on another rank, is the same value there, and that
/// no destructor need run for it. The library opts in std::pair and std::tuple.
template <class Type>
inline constexpr bool enable_element = false;

namespace detail {
/// False for a library template if one of its component types cannot be sent.
template <class Type>
inline constexpr bool parts_are_elements = true;

/// Types whose interface shows that they refer to something elsewhere: std::span, std::string_view and
/// std::reference_wrapper.
template <class Type>
concept refers_elsewhere = std::ranges::enable_borrowed_range<Type> || requires(const Type& reference) {
  { reference.get() } -> std::same_as<typename Type::type&>;
};

/// std::complex and types like it: a real and an imaginary part of one type and nothing else. Recognized by
/// interface, since <complex> would add 9,000 lines to every program.
template <class Type>
concept complex_number = requires(const Type& number) {
  typename Type::value_type;
  { number.real() } -> std::same_as<typename Type::value_type>;
  { number.imag() } -> std::same_as<typename Type::value_type>;
  requires sizeof(Type) == 2 * sizeof(typename Type::value_type);
};

/// Initializes any pointer, and any class that may hold one behind its constructors.
struct any_address {
  template <class Pointed>
  operator Pointed*() const;
  template <class Type>
  requires(std::is_class_v<Type> && !std::is_aggregate_v<Type> && !complex_number<Type> &&
           !enable_element<Type>)
  operator Type() const;
};
/// Initializes any member that is not an aggregate: the members of an aggregate are initialized one by one.
struct any_member {
  template <class Type>
  requires(!std::is_aggregate_v<Type>) operator Type() const;
};
/// Whether an aggregate has that many members and, if `Address` is the index of one, whether it may be an
/// address.
template <class Aggregate, std::size_t Address, std::size_t... Members>
consteval bool is_made_of(std::index_sequence<Members...>) {
  return requires { Aggregate{std::conditional_t<Members == Address, any_address, any_member>{}...}; };
}
/// The number of numbers, pointers and classes in an aggregate, or `Most` if there are more.
template <class Aggregate, std::size_t Most>
consteval std::size_t count_members() {
  if constexpr (Most == 0 || detail::is_made_of<Aggregate, Most>(std::make_index_sequence<Most>{}))
    return Most;
  else
    return detail::count_members<Aggregate, Most - 1>();
}
/// Whether one of the first 16 of these is, or may be, an address.
template <class Aggregate>
consteval bool holds_address() {
  constexpr std::size_t count =
      detail::count_members<Aggregate, (sizeof(Aggregate) < 16 ? sizeof(Aggregate) : 16)>();
  return []<std::size_t... Members>(std::index_sequence<Members...> all) {
    return (detail::is_made_of<Aggregate, Members>(all) || ...);
  }(std::make_index_sequence<count>{});
}
/// Whether the definition of a type shows that its bytes are its value: a class with constructors, such as
/// a view of several dimensions or a map of a matrix library, may refer to something elsewhere.
template <class Type>
constexpr bool shows_its_value() {
  if constexpr (!std::is_class_v<Type> || complex_number<Type>)
    return true;
  else if constexpr (std::is_aggregate_v<Type>)
    return !detail::holds_address<Type>();
  else
    return false;
}
}  // namespace detail

/// A type whose values can be sent as bytes: a number, an enumeration, or a trivially copyable aggregate
/// (`struct point { double x, y; };`). Pointers, views, and structs that visibly hold a pointer are refused,
/// since an address means nothing to another rank. Other classes opt in by `enable_element`. A std::pair,
/// std::tuple, std::array or std::complex is an element if its parts are. (Pointers behind the first 16
/// members of a struct, or inside classes that opt in, are not seen.)
template <class Type>
concept element =
    std::is_object_v<Type> && !std::is_const_v<Type> && !std::is_volatile_v<Type> &&
    !std::is_pointer_v<Type> && !std::is_member_pointer_v<Type> && !std::is_null_pointer_v<Type> &&
    !std::is_array_v<Type> && !std::is_polymorphic_v<Type> && detail::parts_are_elements<Type> &&
    ((std::is_trivially_copyable_v<Type> && !detail::refers_elsewhere<Type> &&
      detail::shows_its_value<Type>()) ||
     enable_element<Type>);

namespace detail {
template <class First, class Second>
inline constexpr bool parts_are_elements<std::pair<First, Second>> = element<First> && element<Second>;
template <class... Parts>
inline constexpr bool parts_are_elements<std::tuple<Parts...>> = (element<Parts> && ...);
template <class Type, std::size_t Count>
inline constexpr bool parts_are_elements<std::array<Type, Count>> = element<Type>;
template <complex_number Type>
inline constexpr bool parts_are_elements<Type> = element<typename Type::value_type>;
template <class Type>
inline constexpr bool parts_are_elements<std::initializer_list<Type>> = false;
}  // namespace detail

// std::pair and std::tuple are not trivially copyable only because of their assignment operators: their copy
// constructors and destructors are trivial if those of their parts are. That makes them implicit-lifetime
// classes: std::memcpy into storage begins the lifetime of an object there and of its parts, and the value of
// each part is that of its bytes, since each part is an element.
template <class First, class Second>
inline constexpr bool enable_element<std::pair<First, Second>> = true;
template <class... Parts>
inline constexpr bool enable_element<std::tuple<Parts...>> = true;
template <class Type, std::size_t Count>
inline constexpr bool enable_element<std::array<Type, Count>> = true;

/// The data.size() * sizeof(Type) bytes of `data`, read-only.
template <class Type, std::size_t Extent>
requires element<std::remove_const_t<Type>>
[[nodiscard]] std::span<const std::byte> bytes_of(std::span<Type, Extent> data) noexcept {
  return std::as_bytes(data);
}

/// Whether `address` is aligned for a `Type`.
template <class Type>
[[nodiscard]] bool is_aligned_for(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) % alignof(Type) == 0;
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
template <class Type>
inline constexpr type_kind short_float_kind = type_kind::other;
// g++ 12 has the type only in C, except on x86.
#if defined(__FLT16_MANT_DIG__) && (defined(__clang__) || __GNUC__ >= 13 || defined(__SSE2__))
#define CHORALE_HAS_FLOAT16 1
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
template <class Type>
concept floating = std::floating_point<Type> || detail::short_float_kind<Type> != type_kind::other;

namespace detail {
/// The two parts of a std::pair, or of a type with the same memory layout.
template <class Type>
struct pair_parts {
  static constexpr bool exist = false;
};
template <class First, class Second>
struct pair_parts<std::pair<First, Second>> {
  static constexpr bool exist = true;
  using first = First;
  using second = Second;
};

#if defined(__SIZEOF_INT128__)
// The standard library treats these as integers only with -std=gnu++20.
__extension__ typedef __int128 widest_integer;
__extension__ typedef unsigned __int128 widest_unsigned;
#else
using widest_integer = std::int64_t;
using widest_unsigned = std::uint64_t;
#endif

template <class Type>
constexpr type_kind kind_of() noexcept {
  if (std::same_as<Type, bool>) return type_kind::boolean;
  if (std::same_as<Type, char>) return type_kind::character;
  if (std::floating_point<Type>) return type_kind::floating;
  if (std::signed_integral<Type> || std::same_as<Type, widest_integer>) return type_kind::signed_integer;
  if (std::unsigned_integral<Type> || std::same_as<Type, widest_unsigned>) return type_kind::unsigned_integer;
  if (complex_number<Type>) return type_kind::complex;
  if (pair_parts<Type>::exist) return type_kind::pair;
  return short_float_kind<Type>;
}

/// Kind and size in 12 bits; the largest size stands for all larger ones.
template <class Type>
constexpr std::uint32_t short_type_tag() noexcept {
  return static_cast<std::uint32_t>(detail::kind_of<Type>()) << 8 |
         static_cast<std::uint32_t>(sizeof(Type) < 0xff ? sizeof(Type) : 0xff);
}

/// The tag of a type of that kind and size in bytes.
constexpr std::uint32_t type_tag_of(type_kind kind, std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>(kind) << 24 |
         (bytes < 0xff'ffff ? static_cast<std::uint32_t>(bytes) : 0xff'ffffU);
}
}  // namespace detail

/// The tag of Type in the signature of a call: the kind in the upper 8 bits and sizeof(Type) in the lower 24
/// (the largest value stands for all larger sizes), or kinds and sizes of the two parts of a pair. It
/// contains no name, so that it is equal on all ranks and with all compilers; `long` and `long long` share a
/// tag if they have the same size, and so do all structs of one size.
template <element Type>
[[nodiscard]] constexpr std::uint32_t type_tag() noexcept {
  using parts = detail::pair_parts<Type>;
  if constexpr (parts::exist)
    return static_cast<std::uint32_t>(type_kind::pair) << 24 |
           detail::short_type_tag<typename parts::first>() << 12 |
           detail::short_type_tag<typename parts::second>();
  else
    return detail::type_tag_of(detail::kind_of<Type>(), sizeof(Type));
}

/// A type tag in words, for messages: "int32", "float64", "24-byte struct", "complex of float64", "pair of
/// float64 and int32"; 0 is "no element type".
[[nodiscard]] std::string describe_type(std::uint32_t tag);

}  // namespace chorale
