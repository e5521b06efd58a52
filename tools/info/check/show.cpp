// SPDX-License-Identifier: Apache-2.0
// Runs the checks, and prints their findings.
#include <cstdio>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "../../../lib/core/printable.hpp"
#include "checks.hpp"

namespace info::check {
namespace {

const char* name(verdict what) {
  switch (what) {
    case verdict::ok:
      return "ok";
    case verdict::note:
      return "note";
    case verdict::wrong:
      return "wrong";
  }
  return "?";
}

}  // namespace

bool run(const report& r, const std::string& self, const std::function<void(const finding&)>& show) {
  bool well = true;
  const auto take = [&](const findings& some) {
    for (const auto& one : some) {
      well = well && one.what != verdict::wrong;
      show(one);
    }
  };
  take(of_devices(r));
  take(of_limits(r));
  take(of_loopback(r));
  take(of_launcher(r, self));
  return well;
}

void print(const finding& f) {
  chorale::say(stdout, "{:<6} {:<14} {}\n", f.what == verdict::wrong ? "WRONG" : name(f.what), f.subject,
               f.says);
  if (!f.remedy.empty()) chorale::say(stdout, "{:<6} {:<14} remedy: {}\n", "", "", f.remedy);
  std::fflush(stdout);
}

std::string to_json(const findings& all) {
  nlohmann::ordered_json checks = nlohmann::ordered_json::array();
  bool well = true;
  for (const auto& f : all) {
    well = well && f.what != verdict::wrong;
    checks.push_back(
        {{"subject", f.subject}, {"verdict", name(f.what)}, {"says", f.says}, {"remedy", f.remedy}});
  }
  const nlohmann::ordered_json j{{"well", well}, {"checks", checks}};
  return j.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace info::check
