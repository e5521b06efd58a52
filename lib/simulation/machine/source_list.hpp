// The sources of the numbers in a machine file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <chorale/simulation/machine/machine.hpp>

namespace chorale::simulation {

/// The works that a machine file cites, and the source of each number.
class source_list {
 public:
  /// Adds a work that can be cited as `[key]`.
  void name(std::string key) { keys_.push_back(std::move(key)); }

  /// Notes that `parameter` has `value` according to `source`, which must cite a work, or begin with
  /// "estimate:" and give a reason; throws `json_fault` at `line` otherwise.
  void add(std::string parameter, std::string value, std::string source, int line);

  [[nodiscard]] std::vector<provenance> take() && { return std::move(noted_); }

 private:
  std::vector<std::string> keys_;
  std::vector<provenance> noted_;
};

}  // namespace chorale::simulation
