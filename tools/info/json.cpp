// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "report.hpp"

namespace info {
namespace {

using json = nlohmann::ordered_json;

json of(const port& p) {
  json gids = json::array();
  for (const auto& g : p.gids) gids.push_back({{"index", g.index}, {"gid", g.address}, {"type", g.type}});
  json j{{"number", p.number}};
  if (!p.problem.empty()) {
    j["problem"] = p.problem;
    return j;
  }
  j["state"] = p.state;
  j["link_layer"] = p.link_layer;
  j["lid"] = p.lid;
  j["mtu_bytes"] = p.mtu_bytes;
  j["max_mtu_bytes"] = p.max_mtu_bytes;
  j["gids"] = gids;
  return j;
}

json of(const device& d) {
  json j{{"name", d.name}, {"provider", d.provider}, {"software", d.software}, {"firmware", d.firmware}};
  if (!d.problem.empty()) j["problem"] = d.problem;
  j["limits"] = json::object();
  for (const auto& l : d.limits) j["limits"][l.name] = l.value;
  j["ports"] = json::array();
  for (const auto& p : d.ports) j["ports"].push_back(of(p));
  return j;
}

json choice_of(const report& r) {
  if (!r.choice) return {{"device", nullptr}, {"problem", r.choice_problem}};
  const auto& c = *r.choice;
  return {{"device", c.device.name},  {"port", c.port}, {"gid_index", c.gid_index},
          {"mtu_bytes", c.mtu_bytes}, {"why", c.why},   {"remarks", c.remarks}};
}

}  // namespace

std::string to_json(const report& r) {
  json j;
  j["version"] = r.version;
  j["compiler"] = r.compiler;
  j["features"] = json::object();
  for (const auto& f : r.features) j["features"][f.name] = f.present;
  j["launch"] = {{"launcher", r.launch.launcher},
                 {"pmix", r.launch.pmix},
                 {"ranks", r.launch.ranks},
                 {"explanation", r.launch.explanation}};
  j["devices"] = json::array();
  for (const auto& d : r.devices) j["devices"].push_back(of(d));
  j["remarks"] = r.remarks;
  j["choice"] = choice_of(r);
  j["settings"] = json::array();
  for (const auto& s : r.settings) {
    j["settings"].push_back({{"name", s.name},
                             {"value", s.value},
                             {"source", s.from_environment ? "environment" : "default"},
                             {"accepts", s.accepts},
                             {"meaning", s.meaning}});
  }
  if (!r.settings_problem.empty()) j["settings_problem"] = r.settings_problem;
  j["unknown_variables"] = json::array();
  for (const auto& s : r.strays) j["unknown_variables"].push_back({{"name", s.name}, {"nearest", s.nearest}});
  // Device names and variables may contain invalid UTF-8.
  return j.dump(2, ' ', true, json::error_handler_t::replace);
}

}  // namespace info
