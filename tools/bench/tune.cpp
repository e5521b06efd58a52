#include "tune.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string_view>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

#include <fmt/format.h>

#include <chorale/model/tuning.hpp>

#include "../../lib/core/printable.hpp"

namespace bench {
namespace {

using nlohmann::json;

json read_table(const std::string& file) {
  if (!std::filesystem::exists(file)) return json{{"tuning", json::array()}};
  (void)chorale::model::tuning_table::read(file);  // refuses what is no table, or no file at all
  std::ifstream in(file);
  return json::parse(in);
}

/// Has `text` take the place of a file, at once and whole. It is written beside it under a name that nobody
/// foresees, so that in a folder where others may write nobody can have made that name lead elsewhere.
void replace(const std::string& file, const std::string& text) {
  std::string beside = file + ".XXXXXX";
  const int fd = mkostemp(beside.data(), O_CLOEXEC);
  const auto give_up = [&](const char* what) {
    const int why = errno;
    if (fd >= 0) {
      close(fd);
      unlink(beside.c_str());
    }
    throw std::runtime_error(fmt::format("the tuning table '{}' cannot be written: {}: {}",
                                         chorale::printable(file), what, std::strerror(why)));
  };
  if (fd < 0) give_up("no file can be made beside it");
  // As permissive as the file that is there, or as any new one.
  struct stat s {};
  const mode_t mask = umask(0);
  umask(mask);
  const mode_t mode = stat(file.c_str(), &s) == 0 ? s.st_mode & 0777 : 0666 & ~mask;
  if (fchmod(fd, mode) != 0) give_up("fchmod");
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = write(fd, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) give_up("write");
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (rename(beside.c_str(), file.c_str()) != 0) give_up("rename");
  close(fd);
}

}  // namespace

void write_tuning(const std::string& file, const std::vector<row>& rows, int ranks, bool crowded) {
  json table = read_table(file);
  std::set<std::pair<std::string, std::string>> measured;
  std::map<std::tuple<std::string, std::string, std::size_t>, json> fresh;
  for (const row& r : rows) {
    // The choices themselves are not chosen among.
    if (r.algorithm == "standard") continue;
    measured.emplace(r.operation, r.transport);
    json& entry = fresh[{r.operation, r.transport, r.bytes}];
    entry["operation"] = r.operation;
    entry["transport"] = r.transport;
    entry["ranks"] = ranks;
    entry["crowded"] = crowded;
    entry["bytes"] = r.bytes;
    entry["microseconds"][r.algorithm] = crowded ? r.wall : r.median;
  }
  json kept = json::array();
  for (const auto& entry : table["tuning"]) {
    const bool replaced = entry.value("ranks", 0) == ranks && entry.value("crowded", false) == crowded &&
                          measured.count({entry.value("operation", std::string{}),
                                          entry.value("transport", std::string{})}) > 0;
    if (!replaced) kept.push_back(entry);
  }
  for (auto& [key, entry] : fresh) kept.push_back(std::move(entry));
  table["tuning"] = std::move(kept);
  replace(file, table.dump(1) + '\n');
}

}  // namespace bench
