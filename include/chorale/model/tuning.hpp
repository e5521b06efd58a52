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

/// Where algorithms are to be compared.
struct situation {
  operation what = operation::none;  ///< which operation
  std::string_view transport;        ///< its name
  int ranks = 1;                     ///< of the group
  bool crowded = false;              ///< ranks outnumber the cores of some host
};

/// One algorithm at one size. `bytes`: of the message, or of one block for operations of blocks.
struct measurement {
  operation what = operation::none;  ///< which operation
  std::string transport;             ///< its name
  int ranks = 0;                     ///< of the group
  bool crowded = false;              ///< ranks outnumbered the cores of some host
  std::size_t bytes = 0;             ///< of the message or block
  std::string algorithm;             ///< its `type_name`: with its namespaces if it is not the library's
  double microseconds = 0;           ///< of a call, the median
};

/// Messages of at most `up_to` bytes go by algorithm number `algorithm`.
struct rule {
  std::size_t up_to = 0;  ///< bytes
  int algorithm = 0;      ///< its number among the candidates, from 0
  std::string why;        ///< in words, for `communicator::explain`
};

/// Measurements, from the library or from a file of `chorale-bench --table`. Immutable; thread-safe.
class tuning_table {
 public:
  /// Of these rows, in any order; `origin` is what explanations call the table.
  tuning_table(std::vector<measurement> rows, std::string origin);
  /// What the library was built with.
  static std::shared_ptr<const tuning_table> built_in();
  /// A file of `chorale-bench --table`. @throws error errc::invalid_argument naming file and reason.
  static std::shared_ptr<const tuning_table> read(const std::string& file);
  /// `read(settings.tuning)`, or the built-in one. Files are read once a process.
  static std::shared_ptr<const tuning_table> of(const config& settings);

  /// Which of `algorithms` (type names, at least one) is best for which sizes: rules in ascending order of
  /// `up_to`, the last without limit. By measurements of the same transport and crowding on the number of
  /// ranks nearest to that wanted, if one is within a factor of two; else by formulas;
  /// algorithms of which nothing is known are chosen only if nothing is known of any: the first then. Each
  /// rule's `why` names those that were not measured at its size.
  [[nodiscard]] std::vector<rule> rules(const situation& s, std::span<const std::string> algorithms) const;

  /// Those of `algorithms` that may be the fastest for `bytes` on another machine too, `most` of them: what
  /// nothing is known of, and then, the best first, what took at most `factor` times the best at the measured
  /// size nearest to `bytes`. Where `rules` goes by formulas this does, without what has none: on groups
  /// that nobody has measured an unknown algorithm may be slower without limit.
  [[nodiscard]] std::vector<int> contenders(const situation& s, std::span<const std::string> algorithms,
                                            std::size_t bytes, double factor, std::size_t most) const;

  /// The same on ranks whose tables choose alike.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }
  /// "the built-in table", or the file's name.
  [[nodiscard]] const std::string& origin() const noexcept { return origin_; }
  /// All measurements.
  [[nodiscard]] const std::vector<measurement>& rows() const noexcept { return rows_; }

 private:
  struct known;
  [[nodiscard]] known about(const situation& s, std::span<const std::string> algorithms) const;
  [[nodiscard]] int nearest_ranks(const situation& s, std::string_view transport) const;

  std::vector<measurement> rows_;
  std::string origin_;
  std::uint64_t fingerprint_;
};

/// The operation of that name; operation::none if there is none.
operation operation_named(std::string_view name) noexcept;

}  // namespace chorale::model
