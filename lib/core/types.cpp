// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include <chorale/core/types.hpp>

namespace chorale {
namespace {

/// Describes a kind and a size in bytes; `largest` stands for all sizes from there on.
std::string describe(type_kind kind, std::uint32_t size, std::uint32_t largest) {
  switch (kind) {
    case type_kind::other:
      return fmt::format("{}-byte struct{}", size, size == largest ? " or larger" : "");
    case type_kind::boolean:
      return "bool";
    case type_kind::character:
      return "char";
    case type_kind::signed_integer:
      return fmt::format("int{}", 8 * size);
    case type_kind::unsigned_integer:
      return fmt::format("uint{}", 8 * size);
    case type_kind::floating:
      return fmt::format("float{}", 8 * size);
    case type_kind::brain_floating:
      return fmt::format("bfloat{}", 8 * size);
    case type_kind::complex:
      return fmt::format("complex of float{}", 4 * size);
    case type_kind::pair:
      return fmt::format("{}-byte pair", size);
  }
  return {};
}

}  // namespace

std::string describe_type(std::uint32_t tag) {
  if (tag == 0) return "no element type";
  const auto kind = static_cast<type_kind>(tag >> 24);
  std::string text;
  if (kind == type_kind::pair) {
    const auto part = [](std::uint32_t short_tag) {
      return describe(static_cast<type_kind>(short_tag >> 8 & 0xf), short_tag & 0xff, 0xff);
    };
    const std::string first = part(tag >> 12), second = part(tag);
    if (!first.empty() && !second.empty()) text = fmt::format("pair of {} and {}", first, second);
  } else {
    text = describe(kind, tag & 0xff'ffffU, 0xff'ffffU);
  }
  return text.empty() ? fmt::format("unknown type (tag {})", tag) : text;
}

}  // namespace chorale
