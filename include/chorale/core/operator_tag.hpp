// SPDX-License-Identifier: Apache-2.0
// The tag of an operator in the signature of a call, by which ranks detect that their operators differ.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include <chorale/core/operators.hpp>
#include <chorale/core/placed.hpp>
#include <chorale/core/standard_operators.hpp>
#include <chorale/core/type_name.hpp>

namespace chorale {

namespace detail {
template <class Op>
inline constexpr std::uint32_t builtin_tag = 0;
template <>
inline constexpr std::uint32_t builtin_tag<sum_t> = 1;
template <>
inline constexpr std::uint32_t builtin_tag<prod_t> = 2;
template <>
inline constexpr std::uint32_t builtin_tag<min_t> = 3;
template <>
inline constexpr std::uint32_t builtin_tag<max_t> = 4;
template <>
inline constexpr std::uint32_t builtin_tag<logical_and_t> = 5;
template <>
inline constexpr std::uint32_t builtin_tag<logical_or_t> = 6;
template <>
inline constexpr std::uint32_t builtin_tag<logical_xor_t> = 7;
template <>
inline constexpr std::uint32_t builtin_tag<bitwise_and_t> = 8;
template <>
inline constexpr std::uint32_t builtin_tag<bitwise_or_t> = 9;
template <>
inline constexpr std::uint32_t builtin_tag<bitwise_xor_t> = 10;
template <>
inline constexpr std::uint32_t builtin_tag<min_at_t> = 11;
template <>
inline constexpr std::uint32_t builtin_tag<max_at_t> = 12;

/// Set in the tags of operators that are not the library's.
inline constexpr std::uint32_t user_tag = 0x8000'0000U;

/// FNV-1a, 32 bits.
constexpr std::uint32_t hash(std::string_view text) noexcept {
  std::uint32_t h = 2166136261U;
  for (const char c : text) h = (h ^ static_cast<std::uint8_t>(c)) * 16777619U;
  return h;
}

/// The tag of an operator that was given a name.
constexpr std::uint32_t tag_of_name(std::string_view name) noexcept {
  return user_tag | hash(name);
}

/// The name that the user gave to an operator; empty if none.
template <class Op>
inline constexpr std::string_view given_name{};

/// Registers an operator's name for use in error messages, during its lifetime. Thread-safe.
class operator_entry {
 public:
  /// `name` must live as long as this; `given` is true for a name chosen by the user, false for the
  /// compiler's spelling of the type.
  operator_entry(std::uint32_t tag, std::string_view name, bool given) noexcept;
  operator_entry(const operator_entry&) = delete;
  operator_entry& operator=(const operator_entry&) = delete;
  ~operator_entry();

 private:
  friend std::string describe_user_operator(std::uint32_t tag);
  std::uint32_t tag_;
  std::string_view name_;
  bool given_;
  operator_entry* next_;
};

/// One byte per type, whose address identifies the type: compilers spell different closures and local structs
/// alike, but must give each its own byte. Hidden visibility makes the distance between two of them a
/// link-time constant of the executable or shared library, and so the same in all ranks that run it.
template <class Op>
struct [[gnu::visibility("hidden")]] type_place {
  static inline char byte = 0;  // neither constant nor a function: linkers merge identical ones
};

template <class Op>
std::uint32_t tag_of_type() noexcept {
  const auto distance = reinterpret_cast<std::uintptr_t>(&type_place<Op>::byte) -
                        reinterpret_cast<std::uintptr_t>(&type_place<void>::byte);
  // An odd factor keeps different distances different.
  return user_tag |
         (detail::hash(detail::written_name<Op>()) ^ static_cast<std::uint32_t>(distance) * 0x9e37'79b1U);
}

template <class Op>
struct [[gnu::visibility("hidden")]] remembered {
  static constexpr bool given = !given_name<Op>.empty();
  // Unloading a plug-in must remove its operators' names; errors then show none.
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wexit-time-destructors"
#endif
  static inline operator_entry entry{given ? detail::tag_of_name(given_name<Op>) : detail::tag_of_type<Op>(),
                                     given ? given_name<Op> : detail::written_name<Op>(), given};
#ifdef __clang__
#pragma clang diagnostic pop
#endif
};

/// Types whose values are functions: the type does not say which one.
template <class Op>
inline constexpr bool holds_any_function = std::is_pointer_v<Op> || std::is_member_pointer_v<Op>;
template <class Signature>
inline constexpr bool holds_any_function<std::function<Signature>> = true;
template <class Op>
inline constexpr bool holds_any_function<std::reference_wrapper<Op>> =
    std::is_function_v<Op> || holds_any_function<Op>;
}  // namespace detail

/// The tag of an operator in the signature of a call; never 0. The library's operators have fixed tags, which
/// the function objects of <functional> with the same meaning share. A named operator (`chorale::named`) has
/// a tag derived from its name. Any other has a tag derived from its type: unique within a program, even for
/// closures, but equal on different ranks only if they run the same executable, and make the call from the
/// same shared library if from one. Name the operators of ranks that run different executables.
///
/// Only the type is compared, not what the operator captures or holds in members, which must be the same on
/// all ranks.
template <class Op>
[[nodiscard]] constexpr std::uint32_t operator_tag() noexcept {
  using plain = std::remove_cvref_t<Op>;
  using known = detail::library_operator<plain>;
  if constexpr (detail::builtin_tag<known> != 0) {
    return detail::builtin_tag<known>;
  } else {
    static_assert(
        !detail::holds_any_function<plain>,
        "a function pointer or std::function does not say by its type which function it is, so that "
        "ranks would not see that theirs differ: pass a lambda that calls the function, or give it a "
        "name, chorale::named<\"name of the operator\">(function)");
    static_cast<void>(&detail::remembered<plain>::entry);
    if constexpr (!detail::given_name<plain>.empty())
      return detail::tag_of_name(detail::given_name<plain>);
    else
      return detail::tag_of_type<plain>();
  }
}

/// An operator's tag in words, for messages: "sum", "user operator 'largest residual'", "unnamed user
/// operator 'main()::<lambda(int, int)>' (tag 8f3a11c0)"; 0 is "no operator". Knows the names of operators
/// that this program uses anywhere. Thread-safe.
[[nodiscard]] std::string describe_operator(std::uint32_t tag);

}  // namespace chorale
