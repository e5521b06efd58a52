// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include <fmt/format.h>

#include <chorale/core/config.hpp>
#include <chorale/verbs/address.hpp>
#include <chorale/verbs/device.hpp>

#include "../../lib/verbs/text.hpp"
#include "report.hpp"

namespace info {
namespace {

namespace verbs = chorale::verbs;

port look_at_port(const verbs::device& d, std::uint8_t number) {
  port p;
  p.number = number;
  try {
    const auto a = d.port(number);
    p.state = verbs::to_string(a.state);
    p.link_layer = verbs::link_layer_name(a.link_layer);
    p.lid = a.lid;
    p.mtu_bytes = verbs::mtu_bytes(a.active_mtu);
    p.max_mtu_bytes = verbs::mtu_bytes(a.max_mtu);
    for (const auto& row : d.gids(number)) {
      p.gids.push_back({row.index, verbs::to_string(row.gid), std::string{verbs::gid_type_name(row.type)}});
    }
  } catch (const std::exception& e) {
    p.problem = e.what();
  }
  return p;
}

std::vector<limit> limits_of(const verbs::device& d) {
  const auto& a = d.attributes();
  const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
  return {
      {"max_qp", number(a.max_qp), "queue pairs: an rc communicator needs one for each peer it talks to"},
      {"max_qp_wr", number(a.max_qp_wr), "work requests in a queue"},
      {"max_sge", number(a.max_sge), "pieces of memory in a work request"},
      {"max_cq", number(a.max_cq), "completion queues"},
      {"max_cqe", number(a.max_cqe), "entries of a completion queue"},
      {"max_mr", number(a.max_mr), "memory regions"},
      {"max_mr_size", number(a.max_mr_size), "bytes of a memory region"},
      {"max_srq", number(a.max_srq), "shared receive queues"},
      {"max_ah", number(a.max_ah), "address handles: a ud communicator needs one for each peer"},
      {"max_mcast_grp", number(a.max_mcast_grp), "multicast groups"},
      {"max_qp_rd_atom", number(a.max_qp_rd_atom), "RDMA reads under way on a queue pair"},
  };
}

device look_at(const verbs::device_info& one) {
  device d;
  d.name = one.name;
  d.provider = one.provider->name;
  try {
    const auto opened = verbs::device::open(one);
    d.software = opened.is_soft();
    d.firmware = opened.attributes().fw_ver;
    d.limits = limits_of(opened);
    for (int number = 1; number <= opened.attributes().phys_port_cnt; ++number)
      d.ports.push_back(look_at_port(opened, static_cast<std::uint8_t>(number)));
  } catch (const std::exception& e) {
    d.problem = e.what();
  }
  return d;
}

}  // namespace

report gather() {
  report r;
  r.version = CHORALE_TOOLS_VERSION;
#if defined(__clang__)
  r.compiler = "clang " __clang_version__;
#else
  r.compiler = "g++ " __VERSION__;
#endif
#if defined(CHORALE_TOOLS_HAVE_PMIX)
  constexpr bool pmix = true;
#else
  constexpr bool pmix = false;
#endif
  r.features = {
      {"rdma-core", verbs::rdma_core() != nullptr,
       "this build knows no device but soft0; configure -Dverbs=enabled"},
      {"PMIx", pmix, "launchers cannot start more than one rank; configure -Dpmix=enabled"},
  };
  r.launch = chorale::bootstrap::inspect_launch();
  for (const auto& one : verbs::list_devices(verbs::drivers(), &r.remarks)) r.devices.push_back(look_at(one));
  r.settings = gather_settings();
  r.strays = gather_strays();
  try {
    const auto settings = chorale::config::from_environment();
    settings.validate();
    try {
      r.choice = verbs::choose(settings);
    } catch (const std::exception& e) {
      r.choice_problem = e.what();
    }
  } catch (const std::exception& e) {
    r.settings_problem = e.what();
    r.choice_problem = "the settings cannot be used";
  }
  return r;
}

}  // namespace info
