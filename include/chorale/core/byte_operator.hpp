// SPDX-License-Identifier: Apache-2.0
// Reduction operators on elements whose type is known only at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace chorale {

/// Combines `count` elements: inout_right[i] = left[i] op inout_right[i], where `left` comes from lower
/// ranks. The operands do not overlap and are aligned for every type of the element's size.
using byte_function = void(const std::byte* left, std::byte* inout_right, std::size_t count);

/// The operator of reductions over `elements`: a function over bytes, a name by which ranks compare operators
/// (equal names must mean equal operators on all ranks), and whether it commutes. It must be associative.
/// Cheap to copy; copies share the function, which may be called from the thread of any communicator that
/// uses it.
///
/// `byte_operator{"longest", [size](const std::byte* left, std::byte* right, std::size_t count) {...}}`
class byte_operator {
 public:
  /// Throws `errc::invalid_argument` if the name or the function is empty.
  byte_operator(std::string_view name, std::function<byte_function> function, bool commutes = false);

  /// Combines `count` elements by the function.
  void operator()(const std::byte* left, std::byte* inout_right, std::size_t count) const;
  /// The tag in the signature of a call, derived from the name as for `chorale::named` operators.
  [[nodiscard]] std::uint32_t tag() const noexcept;
  /// The name by which ranks compare operators.
  [[nodiscard]] const std::string& name() const noexcept;
  /// True if operands may be exchanged.
  [[nodiscard]] bool commutes() const noexcept;

 private:
  struct state;
  std::shared_ptr<const state> state_;
};

}  // namespace chorale
