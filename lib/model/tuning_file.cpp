// SPDX-License-Identifier: Apache-2.0
// Tuning tables as JSON: {"tuning": [{"operation": "allreduce", "transport": "rc", "ranks": 4, "crowded":
// true, "bytes": 1024, "microseconds": {"ring": 3.5, "recursive_doubling": 2.1}}, ...]}. A group of several
// places, one of which has several ranks, also has "places": 2, "largest": 3.
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/model/tuning.hpp>

#include "../core/files.hpp"
#include "../core/printable.hpp"

#ifdef CHORALE_HAVE_JSON
#include <nlohmann/json.hpp>
#endif

namespace chorale::model {
namespace {

/// The reason why a file is not a tuning table.
struct refusal {
  std::string why;
};

#ifdef CHORALE_HAVE_JSON
/// In bytes: hundreds of times what chorale-bench writes.
constexpr std::size_t largest_file = std::size_t{64} << 20;

/// A row of a document, with its number for errors.
class table_row {
 public:
  table_row(const nlohmann::json& row, std::size_t number) : row_(row), number_(number) {
    if (!row.is_object()) refuse("is no object");
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw refusal{fmt::format("row {} of \"tuning\" (from 1) {}", number_, why)};
  }
  [[nodiscard]] const nlohmann::json& field(const char* name) const {
    const auto found = row_.find(name);
    if (found == row_.end()) refuse(fmt::format("has no \"{}\"", name));
    return *found;
  }
  [[nodiscard]] bool has(const char* name) const { return row_.contains(name); }
  [[nodiscard]] std::string text(const char* name) const {
    const auto& value = field(name);
    if (!value.is_string()) refuse_value(name, value, "a text");
    return value.get<std::string>();
  }
  [[nodiscard]] bool boolean(const char* name) const {
    const auto& value = field(name);
    if (!value.is_boolean()) refuse_value(name, value, "true or false");
    return value.get<bool>();
  }
  /// A whole number; the parser turns one beyond 64 bits into a fraction, which is refused as such.
  [[nodiscard]] std::uint64_t integer(const char* name, std::uint64_t lowest, std::uint64_t highest) const {
    const auto& value = field(name);
    const auto number = value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
    if (!value.is_number_unsigned() || number < lowest || number > highest)
      refuse_value(name, value, fmt::format("a whole number from {} to {}", lowest, highest));
    return number;
  }
  [[noreturn]] void refuse_value(std::string_view name, const nlohmann::json& value,
                                 std::string_view wanted) const {
    using handler = nlohmann::json::error_handler_t;
    refuse(fmt::format("has \"{}\": {}, which has to be {}", printable(name, 64),
                       printable(value.dump(-1, ' ', false, handler::replace), 64), wanted));
  }

 private:
  const nlohmann::json& row_;
  std::size_t number_;
};

void read_row(const table_row& row, std::vector<measurement>& rows) {
  measurement m;
  const std::string operation_name = row.text("operation");
  m.what = operation_named(operation_name);
  if (m.what == operation::none)
    row.refuse(fmt::format("names the operation '{}', which does not exist", printable(operation_name, 64)));
  m.transport = row.text("transport");
  m.ranks = static_cast<int>(row.integer("ranks", 1, std::numeric_limits<int>::max()));
  if (row.has("places") || row.has("largest")) {
    m.places = static_cast<int>(row.integer("places", 1, static_cast<std::uint64_t>(m.ranks)));
    m.largest = static_cast<int>(row.integer("largest", 1, static_cast<std::uint64_t>(m.ranks)));
  }
  m.crowded = row.boolean("crowded");
  // Larger sizes are computed from it, so it must be far from overflow.
  m.bytes = static_cast<std::size_t>(row.integer("bytes", 0, std::uint64_t{1} << 48));
  const auto& times = row.field("microseconds");
  if (!times.is_object()) row.refuse_value("microseconds", times, "an object of algorithms and their times");
  for (const auto& [algorithm, microseconds] : times.items()) {
    m.algorithm = algorithm;
    m.microseconds = microseconds.is_number() ? microseconds.get<double>() : -1;
    if (!(m.microseconds >= 0) || !std::isfinite(m.microseconds))
      row.refuse_value(algorithm, microseconds, "a number of microseconds that is not negative");
    rows.push_back(m);
  }
}

std::vector<measurement> read_rows(const std::string& file) {
  std::vector<measurement> rows;
  try {
    const auto document = nlohmann::json::parse(detail::text_of_file(file, largest_file));
    const auto table = document.is_object() ? document.find("tuning") : document.end();
    if (!document.is_object() || table == document.end() || !table->is_array())
      throw refusal{"it is no object with an array \"tuning\""};
    std::size_t number = 0;
    for (const auto& row : *table) read_row(table_row{row, ++number}, rows);
  } catch (const nlohmann::json::exception& e) {
    throw refusal{printable(e.what(), 256)};
  } catch (const detail::file_refusal& e) {
    throw refusal{e.what()};
  }
  return rows;
}
#else
std::vector<measurement> read_rows(const std::string&) {
  throw refusal{"this library was built without nlohmann-json, which reads it"};
}
#endif

}  // namespace

std::shared_ptr<const tuning_table> tuning_table::read(const std::string& file) {
  try {
    return std::make_shared<const tuning_table>(read_rows(file), printable(file));
  } catch (const refusal& refused) {
    throw error(
        errc::invalid_argument,
        fmt::format("tuning table '{}' (config::tuning, CHORALE_TUNING): {}; chorale-bench --table makes one",
                    printable(file), refused.why));
  }
}

}  // namespace chorale::model
