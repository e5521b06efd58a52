// SPDX-License-Identifier: Apache-2.0
// The one exception type of the library, and its error codes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <chorale/core/printable_text.hpp>

namespace chorale {

/// What went wrong, if no errno describes it. Each has a short message, which ends the text of an `error`;
/// the text before it names the call, the object, the rank and the remedy.
enum class errc {
  invalid_argument = 1,  ///< the caller passed something out of range
  invalid_environment,   ///< a CHORALE_* variable has a value that cannot be used
  no_device,             ///< no RDMA device of that name, or none at all
  no_launcher,           ///< several ranks were expected, but no PMIx launcher started this program
  bootstrap_failed,      ///< the ranks could not find each other, or exchange what they need to join
  verbs_failed,          ///< a verbs call failed (its errno is in the text)
  completion_failed,     ///< a work request completed with an error status
  mismatch,              ///< ranks made calls that do not match
  peer_lost,             ///< a rank died or cannot be reached
  deadline,              ///< a wait took longer than config::deadline
  poisoned,              ///< the communicator failed before and can only be destroyed
  unsupported,           ///< this device or build cannot do that
  misuse,                ///< a rule of use was violated: threads, nested calls, a forgotten co_await
};

const std::error_category& category() noexcept;  ///< The category of `errc`, named "chorale".

/// Converts an `errc` to an error code.
inline std::error_code make_error_code(errc e) noexcept {
  return {static_cast<int>(e), category()};
}

/// The text of `e` without the message of its code at the end, for inclusion in the text of another error,
/// which ends with that message too.
[[nodiscard]] std::string reason_of(const std::system_error& e);

/// The exception that all of Chorale throws. `code()` is an `errc` or, for failed system and verbs calls, a
/// `std::generic_category` errno. `ranks()` lists the ranks concerned (dead, silent or mismatched ones); it
/// is empty if no rank is to blame.
class error : public std::system_error {
 public:
  /// From a code, a text without the code's message, and the ranks concerned. Control characters in the text,
  /// which may come from a peer or the environment, are replaced by escapes such as `\x1b`. Line breaks stay.
  error(std::error_code code, const std::string& what, std::vector<int> ranks = {})
      : std::system_error(code, detail::printable_text(what)), ranks_(std::move(ranks)) {}
  /// The same, from a code of this library.
  error(errc code, const std::string& what, std::vector<int> ranks = {})
      : error(make_error_code(code), what, std::move(ranks)) {}

  /// The ranks concerned; empty if no rank is to blame.
  [[nodiscard]] const std::vector<int>& ranks() const noexcept { return ranks_; }
  /// The text without the code's message, as `reason_of` returns it.
  [[nodiscard]] std::string reason() const { return reason_of(*this); }

 private:
  std::vector<int> ranks_;
};

/// Throws an `error` with a positive errno as its code: "`call` on `object` (`remedy`): <errno text>".
[[noreturn]] void throw_errno(int errnum, std::string_view call, std::string_view object,
                              std::string_view remedy = {});

namespace detail {
/// Identifies the layout of the standard library's classes in the including code, which differs with
/// -D_GLIBCXX_DEBUG, for example.
constexpr std::uint64_t standard_layouts() noexcept {
  return sizeof(std::string) | sizeof(std::vector<int>) << 16;
}
/// Tells the library the program's layouts before any such object passes between the two: if they differ from
/// the library's, functions that take or return such objects throw. Thread-safe. @returns true
bool announce_layouts(std::uint64_t of_program) noexcept;
// One per source file: if it were shared with the program, the library would initialize it.
[[maybe_unused]] static const bool layouts_are_announced = announce_layouts(standard_layouts());
/// @throws std::system_error errc::unsupported if any part of the program has announced layouts other than
/// the library's. It is not an `error`, since that class itself has containers of the standard library.
void require_same_layouts();
/// @throws the exception of `require_same_layouts`.
[[noreturn]] void throw_foreign_headers();
}  // namespace detail

}  // namespace chorale

template <>
struct std::is_error_code_enum<chorale::errc> : std::true_type {};
