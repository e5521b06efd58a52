// An object of a machine file: its quantities, with their units and sources, and its sections.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/simulation/machine/byte_cost.hpp>
#include <chorale/simulation/time.hpp>

#include "json_node.hpp"
#include "source_list.hpp"

namespace chorale::simulation {

/// Reads the members of an object. All functions throw `json_fault` if a member is missing or has the wrong
/// type or value. A quantity is an object of its value under its unit, and its source:
/// `{"us": 1.52, "from": "[P2] section 6.2"}`. Each is added to the list of sources.
class json_section {
 public:
  /// The object `node`; errors call it `path`, which is empty for the whole file.
  json_section(const json_node& node, std::string path, source_list& sources);

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
  [[nodiscard]] const json_node& array(std::string_view key);

  /// Reads the member as an object by `read(json_section&)`, which must use all of its members.
  template <class F>
  void section(std::string_view key, F read) {
    json_section inner{member(key), name(key), sources_};
    read(inner);
    inner.end();
  }
  [[nodiscard]] bool has(std::string_view key) const noexcept { return node_.find(key) != nullptr; }

  /// Notes the source of the section as a whole: its member "from".
  void from();

  /// Checks that all members have been read.
  void end() const;

  [[nodiscard]] std::string name(std::string_view key) const;
  [[nodiscard]] int line() const noexcept { return node_.line; }

 private:
  struct unit {
    std::string_view name;
    double factor;
  };
  struct amount {
    double value;  // in the unit of factor 1
    int line;
  };

  const json_node& member(std::string_view key);
  amount quantity(std::string_view key, std::span<const unit> units);

  const json_node& node_;
  std::string path_;
  source_list& sources_;
  std::vector<std::string_view> read_;  // the keys that have been read
};

}  // namespace chorale::simulation
