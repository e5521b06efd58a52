// SPDX-License-Identifier: Apache-2.0
// Measured costs of algorithms, and the choice by them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/config.hpp>

namespace chorale::model {

/// Where algorithms are compared.
struct situation {
  operation what = operation::none;  ///< the operation
  std::string_view transport;        ///< its name
  int ranks = 1;                     ///< of the group
  bool crowded = false;              ///< ranks outnumber the cores of some host
  bool is_on_adapter = false;        ///< a device moves the bytes, not the cores of the ranks
  int places = 1;                    ///< places that have a device of their own (docs/places.md); else 1
  int largest = 1;                   ///< ranks in the largest of these

  /// Whether some ranks are near each other and others are not.
  [[nodiscard]] bool has_levels() const noexcept { return places > 1 && largest > 1; }
};

/// One algorithm at one size. `bytes`: of the message, or of one block for operations on blocks.
struct measurement {
  operation what = operation::none;  ///< the operation
  std::string transport;             ///< its name
  int ranks = 0;                     ///< of the group
  bool crowded = false;              ///< ranks outnumbered the cores of some host
  std::size_t bytes = 0;             ///< of the message or block
  std::string algorithm;             ///< its `type_name`, with its namespaces unless it is the library's
  double microseconds = 0;           ///< of a call, the median
  int places = 1;                    ///< as of a `situation`
  int largest = 1;                   ///< likewise
};

/// The choice of algorithm number `algorithm` for messages of at most `up_to` bytes.
struct rule {
  std::size_t up_to = 0;  ///< bytes
  int algorithm = 0;      ///< its number among the candidates, from 0
  std::string why;        ///< in words, for `communicator::explain`
};

/// Measurements, built into the library or from a file of `chorale-bench --table`. Immutable; thread-safe.
class tuning_table {
 public:
  /// A table of these rows, in any order; `origin` names it in explanations.
  tuning_table(const std::vector<measurement>& rows, std::string origin);
  /// The measurements that the library was built with: of soft0, or, for devices that move bytes themselves,
  /// of a simulated cluster with HDR InfiniBand (docs/simulation.md).
  static std::shared_ptr<const tuning_table> built_in(bool for_adapters = false);
  /// Reads a file of `chorale-bench --table`. @throws error errc::invalid_argument naming file and reason.
  static std::shared_ptr<const tuning_table> read(const std::string& file);
  /// `read(settings.tuning)`, or the built-in table. Each file is read once per process.
  static std::shared_ptr<const tuning_table> of(const config& settings, bool for_adapters = false);

  /// The best of `algorithms` (type names, at least one) for each size: rules in ascending order of `up_to`,
  /// the last without limit. Uses measurements of the same crowding and transport (else of `rc`) on the
  /// nearest group, if that has between half and twice the ranks or, if `s` has levels, between half and
  /// twice the places and the ranks of the largest. If no measured group with levels is near, uses groups
  /// without levels, and otherwise formulas. Algorithms without data are chosen only if there are no data for
  /// any: then the first. Each rule's `why` names those that were not measured at its size.
  [[nodiscard]] std::vector<rule> rules(const situation& s, std::span<const std::string> algorithms) const;

  /// Those of `algorithms` that may be fastest for `bytes` on another machine, at most `most` of them: first
  /// algorithms without data, then, fastest first, those that took at most `factor` times as long as the best
  /// at the measured size nearest to `bytes`. Where `rules` uses formulas, this does too, and omits
  /// algorithms without a formula: on groups without measurements an unknown algorithm may be slower without
  /// limit.
  [[nodiscard]] std::vector<int> contenders(const situation& s, std::span<const std::string> algorithms,
                                            std::size_t bytes, double factor, std::size_t most) const;

  /// Equal on ranks whose tables lead to the same choices.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  /// "the built-in table", or the file's name.
  [[nodiscard]] const std::string& origin() const noexcept { return origin_; }
  /// A copy of all measurements.
  [[nodiscard]] std::vector<measurement> rows() const;

 private:
  /// A measurement whose names are numbers in `names_`: every rank of a job on adapters keeps thousands.
  struct entry {
    double microseconds = 0;
    std::size_t bytes = 0;
    int ranks = 0;
    int places = 0;
    int largest = 0;
    std::uint16_t transport = 0;
    std::uint16_t algorithm = 0;
    operation what = operation::none;
    bool crowded = false;

    [[nodiscard]] bool has_levels() const noexcept { return places > 1 && largest > 1; }
    /// Whether both are of the same operation, on the same group.
    [[nodiscard]] bool is_beside(const entry& other) const noexcept;
  };
  struct known;
  [[nodiscard]] known about(const situation& s, std::span<const std::string> algorithms) const;
  [[nodiscard]] known about_like(const situation& s, std::span<const std::string> algorithms) const;
  [[nodiscard]] const entry* nearest(const situation& s, std::string_view transport) const;

  std::vector<entry> entries_;
  std::vector<std::string> names_;  ///< of transports and algorithms, each once
  std::string origin_;
  std::uint64_t fingerprint_;
};

/// The operation of that name; operation::none if there is none.
operation operation_named(std::string_view name) noexcept;

}  // namespace chorale::model
