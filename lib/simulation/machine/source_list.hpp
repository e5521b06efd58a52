// Where the numbers of a machine file come from.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <chorale/simulation/machine/machine.hpp>

namespace chorale::simulation {

/// The sources that a machine file names, and which number has which.
class source_list {
 public:
  /// A work that can be cited as `[key]`.
  void name(std::string key) { keys_.push_back(std::move(key)); }

  /// Notes that `parameter` is `value`, since `source` says so. Throws `json_fault` at `line` if that is no
  /// source: it has to cite a work, or to begin with "estimate:" and say why.
  void add(std::string parameter, std::string value, std::string source, int line);

  [[nodiscard]] std::vector<provenance> take() && { return std::move(noted_); }

 private:
  std::vector<std::string> keys_;
  std::vector<provenance> noted_;
};

}  // namespace chorale::simulation
