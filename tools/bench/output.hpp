// SPDX-License-Identifier: Apache-2.0
// The table and the files in JSON and CSV, in the same format for both programs, so that
// `tools/measure compare` can read both.
#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "loop.hpp"
#include "result.hpp"

namespace bench {

/// Prints the facts and the meaning of the columns.
void print_preamble(const facts& about, const limits& l, bool with_floor);
/// Prints the column heads above an operation.
void print_head(const std::string& operation, bool with_floor, bool with_check);
void print_rows(const std::vector<row>& rows);

/// {"about": {...}, "machine": {...}, "run": {...}, "ranks": n, "unit": "us", "rows": [...]}; times in
/// microseconds. Rows of a set-up begin with "set_up" and "contestant".
std::string as_json(const run_result& all);
/// A list of these, each with its "name".
std::string as_json(const std::vector<named_result>& all);
/// Comma-separated values, for spreadsheets and data frames: first the facts, each on a line that begins with
/// '#'; then a header; then a line for each row, with exactly the numbers of the JSON file. Times are in
/// microseconds. Missing values are empty. Texts are quoted as in RFC 4180.
std::string as_csv(const run_result& all);
/// Writes a file of that JSON text, whole or not at all.
/// @throws std::system_error naming the file if it cannot be written.
void write_file(const std::string& file, const nlohmann::ordered_json& all);

/// "12/40 allreduce 4096 B" on one line of standard error, overwritten by the next; `finish` wipes it.
class progress {
 public:
  /// `wanted`: print even if standard error is not a terminal.
  progress(bool wanted, bool quiet, std::size_t steps);
  ~progress() { finish(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  void step(const std::string& text);
  void finish();

 private:
  bool on_;
  bool terminal_;
  std::size_t steps_;
  std::size_t done_ = 0;
  bool shown_ = false;
};

}  // namespace bench
