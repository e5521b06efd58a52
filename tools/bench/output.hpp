// The table and the JSON file. Both programs write the same, so that tools/compare reads the same.
#pragma once

#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "loop.hpp"

namespace bench {

/// Facts about the run, in the order in which they are printed.
using facts = std::vector<std::pair<std::string, std::string>>;

/// Prints the facts and what the columns mean.
void print_preamble(const facts& about, const limits& l, bool with_floor);
/// Prints the head of the columns, as above each operation.
void print_head(const std::string& operation, bool with_floor, bool with_check);
void print_rows(const std::vector<row>& rows);

/// A result without rows: {"about": {...}, "ranks": n, "unit": "us", "rows": []}.
nlohmann::ordered_json head_of_result(const facts& about, int ranks);
/// What stands in "rows" of such a file.
nlohmann::ordered_json to_json(const row& r);
/// Writes a file of that text, whole or not at all.
/// @throws std::system_error naming the file if it cannot be written.
void write_file(const std::string& file, const nlohmann::ordered_json& all);

/// Writes {"about": {...}, "ranks": n, "rows": [...]}; times in microseconds.
/// @throws std::system_error naming the file if it cannot be written.
void write_json(const std::string& file, const facts& about, int ranks, const std::vector<row>& rows);

/// "12/40 allreduce 4096 B" on one line of standard error, overwritten by the next; `finish` wipes it.
class progress {
 public:
  /// `wanted`: even if standard error is no terminal.
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
