// SPDX-License-Identifier: Apache-2.0
// Settings, and the device that a communicator would use.
#include <algorithm>

#include <fmt/format.h>

#include "checks.hpp"

namespace info::check {
namespace {

finding settings(const report& r) {
  if (!r.settings_problem.empty())
    return wrong("settings", r.settings_problem,
                 "unset the variable, or give it a value that it accepts (chorale-info lists them)");
  if (!r.strays.empty()) {
    std::string names;
    for (const auto& s : r.strays)
      names += fmt::format("{}{}{}", names.empty() ? "" : ", ", s.name,
                           s.nearest.empty() ? "" : fmt::format(" (is {} meant?)", s.nearest));
    return note("settings", fmt::format("nothing reads {}", names),
                fmt::format("unset {}", r.strays.front().name));
  }
  const auto set = std::count_if(r.settings.begin(), r.settings.end(),
                                 [](const setting& s) { return s.from_environment; });
  return ok("settings", set == 0 ? "none is set: all have their defaults"
                                 : fmt::format("{} of {} are set, all to values that can be used", set,
                                               r.settings.size()));
}

const device* chosen_device(const report& r) {
  const auto found = std::find_if(r.devices.begin(), r.devices.end(),
                                  [&r](const device& d) { return d.name == r.choice->device.name; });
  return found == r.devices.end() ? nullptr : &*found;
}

/// The remedy if no device can be used; often the text of the problem contains it, too.
std::string device_remedy(const report& r) {
  if (!r.settings_problem.empty()) return "fix the settings first";
  for (const auto& s : r.settings)
    if (s.name == "CHORALE_DEVICE" && s.from_environment)
      return "unset CHORALE_DEVICE, or set it to a device that `chorale-info` lists";
  return "as it says; `chorale-info` lists the devices and what hides one, and CHORALE_DEVICE=soft0 needs no "
         "hardware";
}

}  // namespace

findings of_devices(const report& r) {
  findings all{settings(r)};
  // Problems of devices that would not be used are reported, but are not failures.
  for (const auto& remark : r.remarks) all.push_back(note("devices", remark, "as it says"));
  if (!r.choice) {
    all.push_back(wrong("device", r.choice_problem, device_remedy(r)));
    return all;
  }
  const auto& c = *r.choice;
  all.push_back(ok("device", fmt::format("{}, port {}: {}", c.device.name, c.port, c.why)));
  const device* d = chosen_device(r);
  if (d == nullptr || !d->problem.empty()) {
    all.push_back(wrong(
        "device",
        fmt::format("{} cannot be opened: {}", c.device.name, d == nullptr ? "it has vanished" : d->problem),
        device_remedy(r)));
    return all;
  }
  const auto p =
      std::find_if(d->ports.begin(), d->ports.end(), [&c](const port& one) { return one.number == c.port; });
  if (p == d->ports.end() || !p->problem.empty() || p->state != "ACTIVE") {
    const auto state = p == d->ports.end() ? "missing" : p->problem.empty() ? p->state : p->problem;
    all.push_back(wrong("port", fmt::format("port {} is {}", c.port, state),
                        "InfiniBand: cable, switch, subnet manager (`sminfo`); Ethernet: `ip link set dev "
                        "INTERFACE up`"));
    return all;
  }
  all.push_back(ok("port", fmt::format("port {} is {}, {}", p->number, p->state, p->link_layer)));
  const auto row =
      std::find_if(p->gids.begin(), p->gids.end(), [&c](const gid& g) { return g.index == c.gid_index; });
  if (row == p->gids.end())
    all.push_back(wrong("GID", fmt::format("row {} of the GID table is empty", c.gid_index),
                        "give the interface an IPv4 address (`ip address add ADDRESS/PREFIX dev "
                        "INTERFACE`), or set CHORALE_GID_INDEX to a row that `chorale-info` lists"));
  else
    all.push_back(ok("GID", fmt::format("row {}: {} ({})", row->index, row->address, row->type)));
  if (c.mtu_bytes < p->max_mtu_bytes)
    all.push_back(note("MTU",
                       fmt::format("{} bytes, of {} that the device can", c.mtu_bytes, p->max_mtu_bytes),
                       "Ethernet: `ip link set dev INTERFACE mtu 9000`, on the switches as well; or unset "
                       "CHORALE_MTU"));
  else
    all.push_back(ok("MTU", fmt::format("{} bytes", c.mtu_bytes)));
  for (const auto& remark : c.remarks)
    if (remark.find("RLIMIT_MEMLOCK") == std::string::npos &&
        std::find(r.remarks.begin(), r.remarks.end(), remark) == r.remarks.end())
      all.push_back(note("device", remark, "as it says"));
  return all;
}

}  // namespace info::check
