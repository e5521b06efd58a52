// JSON values with their line numbers, so that errors can name the line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace chorale::simulation {

struct json_member;

/// A value of a JSON text.
struct json_node {
  enum class type : std::uint8_t { null, truth, whole, fraction, text, array, object };

  type kind = type::null;
  int line = 0;  ///< where an array or object begins, or a scalar stands; from 1
  bool truth = false;
  std::int64_t whole = 0;
  double fraction = 0;
  std::string text;
  std::vector<json_node> items;
  std::vector<json_member> members;  ///< in the order of the text; keys are unique

  [[nodiscard]] bool is(type one) const noexcept { return kind == one; }
  [[nodiscard]] bool is_number() const noexcept { return is(type::whole) || is(type::fraction); }
  /// The value of a member; null if there is none.
  [[nodiscard]] const json_node* find(std::string_view key) const noexcept;
  /// "a text", "the number 3": for errors.
  [[nodiscard]] std::string described() const;
};

struct json_member {
  std::string key;
  json_node value;
};

/// An error on a line of a file.
struct json_fault {
  int line;
  std::string why;
};

/// Parses a JSON text. Throws `json_fault` if it is invalid, or if an object has a key twice.
[[nodiscard]] json_node parse_json(std::string_view text);

}  // namespace chorale::simulation
