#include "result.hpp"

#include <algorithm>

namespace bench {
namespace {

bool has(const run_result& one, const std::pair<const char*, const char*>& fact) {
  return std::any_of(one.about.begin(), one.about.end(), [&](const auto& other) {
    return other.first == fact.first && other.second == fact.second;
  });
}

}  // namespace

bool is_back_to_back(const run_result& one) {
  return has(one, back_to_back_fact);
}

std::vector<result_row> rows_of_result(const std::vector<row>& rows) {
  std::vector<result_row> all;
  for (const row& r : rows) all.push_back({"", "", r});
  return all;
}

int count_wrong(const std::vector<result_row>& rows) {
  return static_cast<int>(std::count_if(
      rows.begin(), rows.end(), [](const result_row& one) { return one.measured.wrong.value_or(0) > 0; }));
}

}  // namespace bench
