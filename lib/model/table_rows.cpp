// SPDX-License-Identifier: Apache-2.0
#include <ios>
#include <sstream>
#include <string>

#include "built_in.hpp"

namespace chorale::model {

std::vector<measurement> measurements_of(std::string_view rows) {
  std::vector<measurement> all;
  std::istringstream lines{std::string{rows}};
  // Otherwise a lack of memory would look like the end of the stream, and rows would be missing.
  lines.exceptions(std::ios::badbit);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    words.exceptions(std::ios::badbit);
    std::string operation;
    measurement m;
    if (!(words >> operation >> m.transport >> m.ranks)) continue;
    if (words.peek() == '/') words.ignore() >> m.places;
    if (words.peek() == '/') words.ignore() >> m.largest;
    if (!(words >> m.crowded >> m.bytes)) continue;
    m.what = operation_named(operation);
    while (words >> m.algorithm >> m.microseconds) {
      // Restores the space of the type's name: "degree_k<15,flat>" is "degree_k<15, flat>".
      if (const auto comma = m.algorithm.find(','); comma != std::string::npos)
        m.algorithm = m.algorithm.substr(0, comma) + ", " + m.algorithm.substr(comma + 1);
      all.push_back(m);
    }
  }
  return all;
}

}  // namespace chorale::model
