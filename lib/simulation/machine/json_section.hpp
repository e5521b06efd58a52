// SPDX-License-Identifier: Apache-2.0
// An object of a machine file: its quantities, with their units and sources, and its sections.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/simulation/machine/byte_cost.hpp>
#include <chorale/simulation/time.hpp>

#include "machine_text.hpp"

namespace chorale::simulation {

/// Reads the members of an object. All functions throw `json_fault` if a member is missing or has the wrong
/// type or value. A quantity is an object with two members, its value under its unit, and its source:
/// `{"us": 1.52, "from": "[P2] section 6.2"}`. Each is added to the sources of the file.
class json_section {
 public:
  /// The object `node` of the file; errors call it `path`, which is empty for the whole file.
  json_section(const json& node, std::string path, machine_text& file);

  [[nodiscard]] duration time(std::string_view key);
  [[nodiscard]] byte_cost rate(std::string_view key);
  /// A whole number from `least` to `most`.
  [[nodiscard]] std::int64_t count(std::string_view key, std::int64_t least, std::int64_t most);
  [[nodiscard]] std::uint32_t bytes(std::string_view key, std::int64_t least = 0);

  // A member without unit and source.
  [[nodiscard]] bool truth(std::string_view key);
  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] std::int64_t whole(std::string_view key, std::int64_t least, std::int64_t most);
  [[nodiscard]] std::vector<int> wholes(std::string_view key);
  [[nodiscard]] const json& array(std::string_view key);

  /// Reads the member as an object by `read(json_section&)`, which must use all of its members.
  template <class F>
  void section(std::string_view key, F read) {
    json_section inner{member(key), name(key), file_};
    read(inner);
    inner.end();
  }
  [[nodiscard]] bool has(std::string_view key) const { return node_.contains(std::string{key}); }

  /// Notes the source of the section as a whole: its member "from".
  void from() { note_source(""); }

  /// Checks that all members have been read.
  void end() const;

  [[nodiscard]] std::string name(std::string_view key) const;
  [[nodiscard]] const json& node() const noexcept { return node_; }
  [[nodiscard]] machine_text& file() const noexcept { return file_; }

 private:
  struct unit {
    std::string_view name;
    double factor;
  };
  struct amount {
    double value;  // in the unit of factor 1
    const json& node;
  };

  const json& member(std::string_view key);
  /// The member, whose type must satisfy `is_right`; errors call that type `wanted`.
  const json& member(std::string_view key, bool (json::*is_right)() const noexcept, const char* wanted);
  amount quantity(std::string_view key, std::span<const unit> units);
  std::int64_t whole_amount(std::string_view key, unit of, std::int64_t least, std::int64_t most);
  void note_source(std::string value);

  const json& node_;
  std::string path_;
  machine_text& file_;
  std::vector<std::string_view> read_;  // the keys that have been read
};

}  // namespace chorale::simulation
