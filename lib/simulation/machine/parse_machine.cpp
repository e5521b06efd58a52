// SPDX-License-Identifier: Apache-2.0
// The keys of a machine file. docs/machines.md says what each means.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/simulation/machine/machine.hpp>

#include "../../core/printable.hpp"
#include "json_section.hpp"

namespace chorale::simulation {
namespace {

constexpr std::int64_t most_hosts = std::int64_t{1} << 24;

work_cost read_work(json_section& in, std::string_view key) {
  const auto& steps = in.array(key);
  std::vector<work_cost::step> all;
  for (const auto& item : steps) {
    json_section one{item, fmt::format("{}[{}]", in.name(key), all.size()), in.file()};
    work_cost::step step;
    step.from = static_cast<std::uint64_t>(one.whole("bytes", 0, std::int64_t{1} << 40));
    step.call = one.time("call");
    step.byte = one.rate("rate");
    one.end();
    if (all.empty() ? step.from != 0 : step.from <= all.back().from)
      in.file().refuse(
          item, fmt::format("\"{}\" begins with steps whose \"bytes\" do not ascend from 0", in.name(key)));
    all.push_back(step);
  }
  if (all.empty()) in.file().refuse(steps, fmt::format("\"{}\" has no step", in.name(key)));
  return work_cost{std::move(all)};
}

host_costs read_host(json_section& s) {
  host_costs host;
  host.cores = static_cast<int>(s.count("cores", 1, 1 << 16));
  host.copy = read_work(s, "copy");
  if (s.has("copy_received")) host.copy_received = read_work(s, "copy_received");
  if (s.has("own")) host.own = read_work(s, "own");
  host.combine = read_work(s, "combine");
  if (s.has("combine_received")) host.combine_received = read_work(s, "combine_received");
  host.look = s.time("look");
  host.notice = s.time("notice");
  host.context_switch = s.time("context_switch");
  if (s.has("crowded_context_switch")) host.crowded_context_switch = s.time("crowded_context_switch");
  host.call = s.time("call");
  host.send = s.time("send");
  host.receive = s.time("receive");
  if (s.has("match")) host.match = s.time("match");
  return host;
}

adapter_costs read_adapter(json_section& s) {
  adapter_costs adapter;
  s.section("posting", [&to = adapter.posting](json_section& in) {
    to.request = in.time("request");
    to.address = in.time("address");
    to.doorbell = in.time("doorbell");
    to.inline_bytes = in.bytes("inline_bytes");
    to.inline_copy = in.rate("inline_copy");
    if (in.has("copy")) to.copy = read_work(in, "copy");
    if (in.has("copy_touched")) to.copy_touched = read_work(in, "copy_touched");
    if (in.has("reach")) to.reach = read_work(in, "reach");
    to.receive = in.time("receive");
    to.poll = in.time("poll");
    to.completion = in.time("completion");
  });
  s.section("sending", [&to = adapter.sending](json_section& in) {
    to.start = in.time("start");
    to.fetch = in.time("fetch");
    to.gap = in.time("gap");
    to.packet = in.time("packet");
    to.datagram = in.time("datagram");
    if (in.has("alone"))
      in.section("alone", [&to](json_section& one) {
        to.alone = {.rate = one.rate("rate"), .acknowledgement = one.time("acknowledgement")};
      });
  });
  s.section("receiving", [&to = adapter.receiving](json_section& in) {
    to.place = in.time("place");
    to.take = in.time("take");
    to.shared = in.time("shared");
    to.complete = in.time("complete");
    to.gap = in.time("gap");
    to.packet = in.time("packet");
    to.datagram = in.time("datagram");
    to.acknowledge = in.time("acknowledge");
    to.read = in.time("read");
    to.atomic = in.time("atomic");
  });
  s.section("bus", [&to = adapter.bus](json_section& in) {
    to.rate = in.rate("rate");
    to.half_duplex = in.truth("half_duplex");
  });
  s.section("contexts", [&to = adapter.contexts](json_section& in) {
    to.count = static_cast<std::uint32_t>(in.count("count", 0, 1 << 24));
    to.miss = in.time("miss");
    to.stall = in.time("stall");
  });
  s.section("registration", [&to = adapter.registration](json_section& in) {
    to.call = in.time("call");
    to.page = in.time("page");
    to.end_call = in.time("end_call");
    to.end_page = in.time("end_page");
    to.page_bytes = in.bytes("page_bytes", 1);
  });
  adapter.wake = s.time("wake");
  adapter.burst = s.bytes("burst", 1);
  adapter.multicast = s.truth("multicast");
  adapter.datagrams = s.truth("datagrams");
  if (s.has("profile")) adapter.profile = s.text("profile");
  return adapter;
}

near_costs read_near(json_section& s) {
  near_costs costs;
  costs.post = s.time("post");
  costs.line = s.time("line");
  costs.transfer = s.time("transfer");
  costs.byte = s.rate("rate");
  s.section("memory", [&costs](json_section& in) {
    costs.uncached = in.bytes("bytes", 1);
    costs.memory = in.rate("rate");
  });
  return costs;
}

topology read_shape(json_section& s) {
  const auto whole = [&s](std::string_view key) { return static_cast<int>(s.whole(key, 1, most_hosts)); };
  const auto kind = s.text("kind");
  s.from();
  if (kind == "one switch") return one_switch{whole("ports")};
  if (kind == "fat tree") {
    fat_tree shape;
    shape.down = s.wholes("down");
    shape.up = s.wholes("up");
    return shape;
  }
  if (kind == "torus") {
    torus shape;
    shape.extent = s.wholes("extent");
    shape.hosts = whole("hosts");
    return shape;
  }
  if (kind == "dragonfly") {
    dragonfly shape;
    shape.groups = whole("groups");
    shape.switches = whole("switches");
    shape.hosts = whole("hosts");
    shape.globals = whole("globals");
    return shape;
  }
  s.file().refuse(s.node(), fmt::format("\"{}\" is \"{}\", which has to be \"one switch\", \"fat tree\", "
                                        "\"torus\" or \"dragonfly\"",
                                        s.name("kind"), printable(kind, 64)));
}

network_costs read_network(json_section& s) {
  network_costs network;
  s.section("shape", [&](json_section& in) { network.shape = read_shape(in); });
  const auto link = [&s](std::string_view key) {
    link_costs costs;
    s.section(key, [&costs](json_section& in) {
      costs.rate = in.rate("rate");
      costs.delay = in.time("delay");
    });
    return costs;
  };
  // A missing switch link costs as much as a host link, a missing global link as much as a switch link.
  network.host_link = link("host_link");
  network.switch_link = s.has("switch_link") ? link("switch_link") : network.host_link;
  network.global_link = s.has("global_link") ? link("global_link") : network.switch_link;
  s.section("switches", [&to = network.switches](json_section& in) {
    to.forward = in.time("forward");
    to.replicate = in.time("replicate");
    to.whole_packets = in.truth("whole_packets");
  });
  s.section("packets", [&to = network.packets](json_section& in) {
    to.payload = in.bytes("payload", 1);
    to.connected = in.bytes("connected");
    to.datagram = in.bytes("datagram");
  });
  return network;
}

machine read_all(machine_text file) {
  json_section s{file.root(), "", file};
  machine all;
  all.name = s.text("machine");
  all.description = s.text("description");
  s.section("sources", [&](json_section& in) {
    for (const auto& [key, value] : in.node().items()) {
      static_cast<void>(in.text(key));
      file.add_source(key);
    }
  });
  all.hosts = static_cast<int>(s.count("hosts", 1, most_hosts));
  all.ranks_per_host = static_cast<int>(s.count("ranks_per_host", 1, 1 << 16));
  s.section("host", [&](json_section& in) { all.host = read_host(in); });
  s.section("adapter", [&](json_section& in) { all.adapter = read_adapter(in); });
  s.section("network", [&](json_section& in) { all.network = read_network(in); });
  if (s.has("near")) s.section("near", [&](json_section& in) { all.near = read_near(in); });
  s.end();
  all.sources = std::move(file).take_sources();
  return all;
}

}  // namespace

machine parse_machine(std::string_view text, const std::string& file) {
  detail::require_same_layouts();
  try {
    auto all = read_all(machine_text{text});
    validate(all);
    return all;
  } catch (const json_fault& fault) {
    throw error(errc::invalid_argument, fmt::format("machine file '{}', line {}: {} (docs/machines.md)",
                                                    printable(file), fault.line, fault.why));
  }
}

}  // namespace chorale::simulation
