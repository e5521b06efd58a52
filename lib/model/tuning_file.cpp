// Tuning tables as JSON: {"tuning": [{"operation": "allreduce", "transport": "rc", "ranks": 4, "crowded":
// true, "bytes": 1024, "microseconds": {"ring": 3.5, "recursive_doubling": 2.1}}, ...]}
#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/model/tuning.hpp>

#ifdef CHORALE_HAVE_JSON
#include <nlohmann/json.hpp>
#endif

namespace chorale::model {

std::shared_ptr<const tuning_table> tuning_table::read(const std::string& file) {
  const auto refuse = [&](const std::string& why) -> std::shared_ptr<const tuning_table> {
    throw error(
        errc::invalid_argument,
        fmt::format("tuning table {} (config::tuning, CHORALE_TUNING): {}; chorale-bench --tune makes one",
                    file, why));
  };
#ifdef CHORALE_HAVE_JSON
  std::ifstream in(file);
  if (!in) return refuse("it cannot be read");
  std::vector<measurement> rows;
  try {
    const auto document = nlohmann::json::parse(in);
    for (const auto& row : document.at("tuning")) {
      measurement m;
      m.what = operation_named(row.at("operation").get<std::string>());
      if (m.what == operation::none)
        return refuse("there is no operation " + row.at("operation").get<std::string>());
      m.transport = row.at("transport").get<std::string>();
      m.ranks = row.at("ranks").get<int>();
      m.crowded = row.at("crowded").get<bool>();
      m.bytes = row.at("bytes").get<std::size_t>();
      if (m.ranks < 1) return refuse("a row has no ranks");
      for (const auto& [algorithm, microseconds] : row.at("microseconds").items()) {
        m.algorithm = algorithm;
        m.microseconds = microseconds.get<double>();
        if (!(m.microseconds >= 0) || !std::isfinite(m.microseconds))
          return refuse(fmt::format("{} takes {} us", algorithm, m.microseconds));
        rows.push_back(m);
      }
    }
  } catch (const nlohmann::json::exception& e) {
    return refuse(e.what());
  }
  return std::make_shared<const tuning_table>(std::move(rows), file);
#else
  return refuse("this library was built without nlohmann-json, which reads it");
#endif
}

}  // namespace chorale::model
