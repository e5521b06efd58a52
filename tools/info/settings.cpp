#include <cstdlib>
#include <functional>
#include <map>

#include <fmt/format.h>

#include <chorale/core/config.hpp>

#include "../../lib/core/printable.hpp"
#include "nearest.hpp"
#include "report.hpp"

namespace info {
namespace {

/// How the fields of a default config read in words. Settings that are not in a config have no entry: they
/// are unset by default.
std::string default_value(std::string_view name) {
  static const chorale::config c;
  static const std::map<std::string_view, std::function<std::string()>> values{
      {"CHORALE_PORT", [] { return fmt::to_string(c.port); }},
      {"CHORALE_PKEY_INDEX", [] { return fmt::to_string(c.pkey_index); }},
      {"CHORALE_SERVICE_LEVEL", [] { return fmt::to_string(c.service_level); }},
      {"CHORALE_MTU", [] { return fmt::to_string(c.mtu); }},
      {"CHORALE_QP_TIMEOUT", [] { return fmt::to_string(c.qp_timeout); }},
      {"CHORALE_QP_RETRY", [] { return fmt::to_string(c.qp_retry); }},
      {"CHORALE_SILENCE_MS", [] { return fmt::to_string(c.silence.count()); }},
      {"CHORALE_STALL_MS", [] { return fmt::to_string(c.stall.count()); }},
      {"CHORALE_DEADLINE_MS", [] { return fmt::to_string(c.deadline.count()); }},
      {"CHORALE_BLOCK_BYTES", [] { return fmt::to_string(c.block_bytes); }},
      {"CHORALE_BLOCKS", [] { return fmt::to_string(c.blocks); }},
      {"CHORALE_MULTICAST_PATIENCE_US", [] { return fmt::to_string(c.multicast_patience.count()); }},
      {"CHORALE_WAIT", [] { return std::string{"auto"}; }},
      {"CHORALE_SOFT_COPY", [] { return std::string{"auto"}; }},
  };
  const auto it = values.find(name);
  return it == values.end() ? "unset" : it->second();
}

}  // namespace

std::vector<setting> gather_settings() {
  std::vector<setting> all;
  for (const auto& variable : chorale::environment_variables()) {
    const std::string name{variable.name};
    const char* set = std::getenv(name.c_str());
    all.push_back({name, set != nullptr ? chorale::printable(set) : default_value(name), set != nullptr,
                   std::string{variable.accepts}, std::string{variable.meaning}});
  }
  return all;
}

std::vector<stray> gather_strays() {
  std::vector<std::string_view> known;
  for (const auto& variable : chorale::environment_variables()) known.push_back(variable.name);
  std::vector<stray> all;
  for (const auto& name : chorale::unknown_environment_variables())
    all.push_back({chorale::printable(name), nearest(name, known)});
  return all;
}

}  // namespace info
