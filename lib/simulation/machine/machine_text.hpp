// SPDX-License-Identifier: Apache-2.0
// The text of a machine file: JSON values with their lines, for errors, and the sources of its numbers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/simulation/machine/machine.hpp>

namespace chorale::simulation {

using json = nlohmann::ordered_json;

/// An error on a line of a file.
struct json_fault {
  int line;
  std::string why;
};

/// "the text "abc"", "the number 3": for errors.
[[nodiscard]] std::string described(const json& value);

class machine_text {
 public:
  /// Throws `json_fault` if the text is not JSON, or if an object has a key twice.
  explicit machine_text(std::string_view text);

  [[nodiscard]] const json& root() const noexcept { return root_; }
  /// Throws `json_fault` with the line on which this value stands or, if it is an array or object, begins.
  [[noreturn]] void refuse(const json& value, std::string why) const;

  /// Adds a work that can be cited as `[key]`.
  void add_source(std::string key) { keys_.push_back(std::move(key)); }
  /// Notes that `parameter` has `value` according to the text `source`, which must cite a work, or begin with
  /// "estimate:" and give a reason; refuses it otherwise.
  void note(std::string parameter, std::string value, const json& source);
  [[nodiscard]] std::vector<provenance> take_sources() && { return std::move(noted_); }

 private:
  json root_;
  std::vector<int> lines_;  // of all values, in the order of the text; from 1
  std::vector<std::string> keys_;
  std::vector<provenance> noted_;
};

}  // namespace chorale::simulation
