// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/verbs/address.hpp>
#include <chorale/verbs/completion_queue.hpp>
#include <chorale/verbs/protection_domain.hpp>
#include <chorale/verbs/queue_pair.hpp>
#include <chorale/verbs/selection.hpp>

#include "candidate.hpp"
#include "diagnosis.hpp"
#include "numa.hpp"
#include "text.hpp"

namespace chorale::verbs {
namespace {

bool is_active(ibv_port_state state) {
  return state == IBV_PORT_ACTIVE || state == IBV_PORT_ACTIVE_DEFER;
}

std::string port_remedy(const ibv_port_attr& port) {
  if (port.link_layer == IBV_LINK_LAYER_ETHERNET)
    return "bring its network interface up (ip link set dev <interface> up) and check the cable";
  return port.state == IBV_PORT_DOWN ? "check cable and switch" : "start a subnet manager (opensm)";
}

std::string transport_remark(const device_info& info) {
  return fmt::format("{} is neither InfiniBand nor RoCE: its queue pairs cannot be connected by address",
                     info.name);
}

std::string list_rows(const std::vector<gid_row>& rows) {
  std::string text;
  for (const auto& row : rows)
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", row.index, to_string(row.gid),
                        gid_type_name(row.type));
  return text.empty() ? "none" : text;
}

int configured_gid(const device& from, std::uint8_t port, int index, bool ethernet, device_choice& result) {
  static_cast<void>(from.gid(port, index));  // throws if it is outside the table
  const auto rows = from.gids(port);
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const gid_row& r) { return r.index == index; });
  if (row == rows.end())
    throw error(
        errc::invalid_argument,
        fmt::format("GID index {} of port {} of {} is empty; rows in use: {}; set CHORALE_GID_INDEX to "
                    "one of these or unset it",
                    index, port, from.name(), list_rows(rows)));
  if (ethernet && row->type == IBV_GID_TYPE_ROCE_V1)
    result.remarks.push_back(fmt::format(
        "GID index {} of {} is RoCE v1: it is not routed and does not reach peers that use RoCE v2", index,
        from.name()));
  return index;
}

/// Whether routers forward packets with this GID.
bool is_routed(const gid_row& row) {
  const bool is_link_local = row.gid.raw[0] == 0xfe && (row.gid.raw[1] & 0xc0) == 0x80;
  return row.type == IBV_GID_TYPE_ROCE_V2 && !is_link_local;
}

int default_gid(const device& from, std::uint8_t port, bool ethernet, device_choice& result) {
  const auto rows = from.gids(port);
  const auto first = [&](auto&& suits) {
    return std::find_if(rows.begin(), rows.end(),
                        [&](const gid_row& r) { return r.index <= 255 && suits(r); });
  };
  if (!ethernet) {
    const auto row = first([](const gid_row& r) { return router_lid(r.gid) != 0; });
    return row == rows.end() ? 0 : row->index;
  }
  auto row = first([](const gid_row& r) { return is_routed(r) && is_ipv4_mapped(r.gid); });
  if (row != rows.end()) return row->index;
  row = first(is_routed);
  if (row == rows.end()) row = first([](const gid_row& r) { return r.type == IBV_GID_TYPE_ROCE_V2; });
  if (row == rows.end()) row = first([](const gid_row&) { return true; });
  if (row == rows.end())
    throw error(
        errc::no_device,
        fmt::format(
            "port {} of {} has no GID: give its network interface an address; in a container, its "
            "network name space needs the interface, since GIDs of others are hidden (--network=host)",
            port, from.name()));
  result.remarks.push_back(fmt::format(
      "port {} of {} has no RoCE v2 GID with an IPv4 address, so row {} is used: {} ({}){}; give its "
      "network interface an IPv4 address if peers cannot be reached",
      port, from.name(), row->index, to_string(row->gid), gid_type_name(row->type),
      is_routed(*row) ? "" : ", which is not routed"));
  return row->index;
}

/// Row of the partition key table to use.
std::uint16_t settled_pkey(const config& settings, const device& from, device_choice& result) {
  constexpr unsigned membership_bit = 0x8000;
  const std::uint8_t port = settings.port;
  std::optional<std::uint16_t> index = settings.pkey_index;
  if (!index) {
    const auto rows = from.port(port).pkey_tbl_len;
    std::string others;
    bool is_full = false;
    for (std::uint16_t row = 0; row < rows && !is_full; ++row) {
      const std::uint16_t key = from.pkey(port, row);
      if ((key & ~membership_bit) == 0) continue;
      others += fmt::format("{}{:#06x}", others.empty() ? "" : ", ", key);
      if (settings.pkey && ((key ^ *settings.pkey) & ~membership_bit) != 0) continue;
      is_full = (key & membership_bit) != 0;
      if (!index || is_full) index = row;
    }
    if (!index && settings.pkey)
      throw error(
          errc::invalid_argument,
          fmt::format("port {} of {} is in no partition {:#06x}, only in: {}; set CHORALE_PKEY to one of "
                      "these or unset it, or ask the subnet manager for membership",
                      port, from.name(), *settings.pkey, others.empty() ? "none" : others));
  }
  const std::uint16_t key = from.pkey(port, index.value_or(0));
  if ((key & ~membership_bit) == 0)
    throw error(
        errc::invalid_argument,
        fmt::format(
            "PKey index {} of port {} of {} is empty: set CHORALE_PKEY_INDEX to a row that the subnet "
            "manager filled, or unset it",
            index.value_or(0), port, from.name()));
  if ((key & membership_bit) == 0)
    result.remarks.push_back(fmt::format(
        "port {} of {} is a limited member of partition {:#06x}: it reaches full members only; ask for full "
        "membership in the subnet manager's partition configuration",
        port, from.name(), key));
  return index.value_or(0);
}

int settled_mtu(const device& from, std::uint8_t port, const ibv_port_attr& attributes, int wanted) {
  const int active = mtu_bytes(attributes.active_mtu);
  if (active == 0)
    throw error(errc::unsupported, fmt::format("port {} of {} reports an unknown MTU", port, from.name()));
  if (wanted > active)
    throw error(
        errc::invalid_argument,
        fmt::format(
            "MTU of {} bytes exceeds the active MTU of port {} of {}, {} bytes: set CHORALE_MTU to at "
            "most that{}",
            wanted, port, from.name(), active,
            attributes.link_layer == IBV_LINK_LAYER_ETHERNET ? ", or raise the MTU of its network interface"
                                                             : ""));
  return wanted == 0 ? active : wanted;
}

/// The feature required by transports that the device lacks; nothing if it has all.
std::optional<std::string> lack_of(const device& opened) {
  // No attribute says whether the device supports datagrams, so try it.
  try {
    const protection_domain domain{opened};
    completion_queue completions{opened, 1};
    const queue_pair datagrams{
        domain,
        {.type = IBV_QPT_UD, .send = &completions, .recv = &completions, .send_depth = 1, .recv_depth = 1}};
  } catch (const error& failure) {
    const bool is_refused = failure.code() == std::errc::operation_not_supported ||
                            failure.code() == std::errc::function_not_supported ||
                            failure.code() == std::errc::invalid_argument;
    if (!is_refused) throw;
    return fmt::format("{} offers no datagrams (UD) to programs, which all transports need: {}",
                       opened.name(), failure.what());
  }
  return std::nullopt;
}

device_choice settle(const config& settings, const device_info& info, const device& opened, std::string why) {
  device_choice result{.device = info, .port = settings.port, .why = std::move(why)};
  const ibv_port_attr port = opened.port(settings.port);
  if (!is_active(port.state))
    throw error(errc::no_device,
                fmt::format("port {} of {} is {}, not ACTIVE: {}; or set CHORALE_DEVICE=soft0", settings.port,
                            info.name, to_string(port.state), port_remedy(port)));
  if (const auto lack = lack_of(opened))
    throw error(errc::unsupported, fmt::format("{}; or set CHORALE_DEVICE to another device", *lack));
  const bool ethernet = port.link_layer == IBV_LINK_LAYER_ETHERNET;
  result.gid_index = settings.gid_index
                         ? configured_gid(opened, settings.port, *settings.gid_index, ethernet, result)
                         : default_gid(opened, settings.port, ethernet, result);
  result.pkey_index = settled_pkey(settings, opened, result);
  result.mtu_bytes = settled_mtu(opened, settings.port, port, settings.mtu);
  if (std::string_view{info.provider->name} != software_driver_name)
    if (auto remark = memlock_remark(memlock_limit(), memlock_exempt())) result.remarks.push_back(*remark);
  return result;
}

/// The rate of a port with all its lanes, in units of 100 Mbit/s; 0: unknown to this version.
int rate_of(const ibv_port_attr& port) {
  constexpr int lanes[]{1, 4, 8, 12, 2};  // indexed by bit: InfiniBand specification, PortInfo
  constexpr int lane_rates[]{25, 50, 100, 100, 140, 250, 500, 1000};  // SDR to NDR; FDR10 has QDR's rate
  const auto in = [](std::span<const int> table, unsigned bits) {
    const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
    return bit < table.size() ? table[bit] : 0;
  };
  return in(lanes, port.active_width) * in(lane_rates, port.active_speed);
}

/// Nothing if the device cannot be used; then the reason is added to `remarks`.
std::optional<candidate> judge(const config& settings, const device_info& info,
                               std::vector<std::string>& remarks) {
  if (info.transport != IBV_TRANSPORT_IB) {
    remarks.push_back(transport_remark(info));
    return std::nullopt;
  }
  try {
    const device opened = device::open(info);
    candidate found{.settled = settle(settings, info, opened, {})};
    const ibv_port_attr port = opened.port(settings.port);
    found.address =
        verbs::query_local_port(opened, settings.port, found.settled.gid_index, 0, found.settled.pkey_index)
            .address;
    found.subnet_manager = port.sm_lid;
    if (port.link_layer == IBV_LINK_LAYER_ETHERNET) {
      const auto rows = opened.gids(settings.port);
      found.kind =
          std::any_of(rows.begin(), rows.end(),
                      [&](const gid_row& r) { return r.index == found.settled.gid_index && is_routed(r); })
              ? 1
              : 2;
    }
    found.rate = rate_of(port);
    found.distance = is_elsewhere(info.name) ? 1 : 0;
    return found;
  } catch (const error& failure) {
    remarks.push_back(fmt::format("{} cannot be used: {}", info.name, failure.what()));
    return std::nullopt;
  }
}

/// The names in a list separated by commas. @throws error errc::invalid_argument if one is empty.
std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  for (;;) {
    const auto comma = list.find(',');
    names.emplace_back(list.substr(0, comma));
    if (names.back().empty())
      throw error(
          errc::invalid_argument,
          "CHORALE_DEVICE (config::device) has an empty name: it is one device name, or several with a "
          "single comma between two");
    if (comma == std::string_view::npos) return names;
    list.remove_prefix(comma + 1);
  }
}

device_choice choose_named(const config& settings, std::span<const driver* const> from, int local_rank) {
  const auto names = names_in(settings.device);
  const auto turn = static_cast<std::size_t>(local_rank) % names.size();
  const std::string& name = names[turn];
  const device opened = device::open(name, from);
  const auto devices = list_devices(from);
  const auto info =
      std::find_if(devices.begin(), devices.end(), [&](const device_info& d) { return d.name == name; });
  if (info == devices.end()) throw error(errc::no_device, fmt::format("device '{}' is gone", name));
  if (info->transport != IBV_TRANSPORT_IB) throw error(errc::unsupported, transport_remark(*info));
  return settle(
      settings, *info, opened,
      names.size() == 1
          ? fmt::format("{} was asked for by name", name)
          : fmt::format("{} is number {} of the {} devices that were asked for, the turn of local rank {}",
                        name, turn + 1, names.size(), local_rank));
}

}  // namespace

device_choice choose(const config& settings, std::span<const driver* const> from, int local_rank) {
  detail::require_same_layouts();
  settings.validate();
  if (local_rank < 0)
    throw error(errc::invalid_argument, fmt::format("local rank {} is below 0", local_rank));
  if (!settings.device.empty()) return choose_named(settings, from, local_rank);

  std::vector<std::string> remarks;
  const auto devices = list_devices(from, &remarks);
  std::size_t real = 0;
  std::vector<candidate> usable;
  for (const auto& info : devices) {
    if (std::string_view{info.provider->name} == software_driver_name) continue;
    ++real;
    if (auto found = judge(settings, info, remarks)) usable.push_back(std::move(*found));
  }
  if (!usable.empty()) {
    device_choice best = verbs::best_of(std::move(usable), local_rank);
    best.remarks.insert(best.remarks.begin(), remarks.begin(), remarks.end());
    return best;
  }
  if (std::find(from.begin(), from.end(), rdma_core()) != from.end()) {
    const auto hidden = hidden_device_remarks(devices);
    remarks.insert(remarks.end(), hidden.begin(), hidden.end());
  }
  const auto fallback = std::find_if(devices.begin(), devices.end(), [](const device_info& d) {
    return std::string_view{d.provider->name} == software_driver_name;
  });
  if (fallback == devices.end()) {
    std::string text = "no RDMA device that can be used, and no software device";
    for (const auto& remark : remarks) text += "; " + remark;
    throw error(errc::no_device, text);
  }
  const device opened = device::open(*fallback);
  device_choice result = settle(
      settings, *fallback, opened,
      real == 0 ? fmt::format("{}: this machine has no RDMA device", fallback->name)
                : fmt::format("{}: of {} RDMA device(s) of this machine, none can be used with port {}",
                              fallback->name, real, settings.port));
  result.remarks.insert(result.remarks.begin(), remarks.begin(), remarks.end());
  return result;
}

}  // namespace chorale::verbs
