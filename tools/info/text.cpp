// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "../../lib/core/printable.hpp"
#include "report.hpp"

namespace info {
namespace {

void print_port(const port& p) {
  if (!p.problem.empty()) {
    chorale::say(stdout, "  port {}: {}\n", p.number, p.problem);
    return;
  }
  chorale::say(stdout, "  port {}: {}, {}, LID {}, MTU {} of {} bytes\n", p.number, p.state, p.link_layer,
               p.lid, p.mtu_bytes, p.max_mtu_bytes);
  for (const auto& g : p.gids) chorale::say(stdout, "    GID {:>3}: {} ({})\n", g.index, g.address, g.type);
}

void print_device(const device& d) {
  chorale::say(stdout, "{} ({}{}{})\n", d.name, d.software ? "software, in user space" : d.provider,
               d.firmware.empty() ? "" : ", firmware ", d.firmware);
  if (!d.problem.empty()) chorale::say(stdout, "  cannot be opened: {}\n", d.problem);
  for (const auto& p : d.ports) print_port(p);
  for (const auto& l : d.limits) chorale::say(stdout, "  {:<15} {:>20}  {}\n", l.name, l.value, l.meaning);
}

void print_choice(const report& r) {
  chorale::say(stdout, "\nA communicator would use\n");
  if (!r.choice) {
    chorale::say(stdout, "  nothing: {}\n", r.choice_problem);
    return;
  }
  const auto& c = *r.choice;
  chorale::say(stdout, "  {}, port {}, GID index {}, MTU {} bytes\n  why: {}\n", c.device.name, c.port,
               c.gid_index, c.mtu_bytes, c.why);
}

}  // namespace

void print_text(const report& r) {
  chorale::say(stdout, "Chorale {}, built with {}\n", r.version, r.compiler);
  for (const auto& f : r.features)
    chorale::say(stdout, "  {}: {}\n", f.name, f.present ? "built in" : "NOT built in: " + f.otherwise);

  chorale::say(stdout, "\nLauncher\n  {}\n", r.launch.explanation);

  chorale::say(stdout, "\nDevices\n");
  for (const auto& d : r.devices) print_device(d);
  if (r.devices.empty()) chorale::say(stdout, "  none\n");

  print_choice(r);

  std::vector<std::string> remarks = r.remarks;
  if (r.choice) {
    for (const auto& remark : r.choice->remarks) {
      if (std::find(remarks.begin(), remarks.end(), remark) == remarks.end()) remarks.push_back(remark);
    }
  }
  if (!remarks.empty()) chorale::say(stdout, "\nRemarks\n");
  for (const auto& remark : remarks) chorale::say(stdout, "  * {}\n", remark);

  chorale::say(stdout, "\nSettings (environment variables)\n");
  for (const auto& s : r.settings)
    chorale::say(stdout, "  {:<22} {:<10} {:<12} {}\n  {:<22} {:<23} accepts {}\n", s.name, s.value,
                 s.from_environment ? "environment" : "default", s.meaning, "", "", s.accepts);
  if (!r.settings_problem.empty()) chorale::say(stdout, "  WRONG: {}\n", r.settings_problem);
  for (const auto& s : r.strays) {
    chorale::say(stdout, "  {} is set, but nothing reads it{}\n", s.name,
                 s.nearest.empty() ? "" : "; did you mean " + s.nearest + "?");
  }
}

}  // namespace info
