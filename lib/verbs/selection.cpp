#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/verbs/address.hpp>
#include <chorale/verbs/selection.hpp>

#include "diagnosis.hpp"
#include "text.hpp"

namespace chorale::verbs {
namespace {

constexpr std::string_view software = "soft";

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

int configured_gid(const device& from, std::uint8_t port, int index, bool ethernet, choice& result) {
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

int default_gid(const device& from, std::uint8_t port, bool ethernet, choice& result) {
  if (!ethernet) return 0;
  const auto rows = from.gids(port);
  const auto first = [&](auto&& suits) {
    return std::find_if(rows.begin(), rows.end(),
                        [&](const gid_row& r) { return r.index <= 255 && suits(r); });
  };
  auto row = first([](const gid_row& r) { return r.type == IBV_GID_TYPE_ROCE_V2 && is_ipv4_mapped(r.gid); });
  if (row != rows.end()) return row->index;
  row = first([](const gid_row& r) { return r.type == IBV_GID_TYPE_ROCE_V2; });
  if (row == rows.end()) row = first([](const gid_row&) { return true; });
  if (row == rows.end())
    throw error(
        errc::no_device,
        fmt::format("port {} of {} has no GID: give its network interface an address", port, from.name()));
  result.remarks.push_back(fmt::format(
      "port {} of {} has no RoCE v2 GID with an IPv4 address, so row {} is used: {} ({}); give its "
      "network interface an IPv4 address if peers cannot be reached",
      port, from.name(), row->index, to_string(row->gid), gid_type_name(row->type)));
  return row->index;
}

void check_pkey(const device& from, std::uint8_t port, int index, choice& result) {
  const std::uint16_t key = from.pkey(port, index);
  if ((key & 0x7fff) == 0)
    throw error(
        errc::invalid_argument,
        fmt::format(
            "PKey index {} of port {} of {} is empty: set CHORALE_PKEY_INDEX to a row that the subnet "
            "manager filled, or unset it",
            index, port, from.name()));
  if ((key & 0x8000) == 0)
    result.remarks.push_back(fmt::format(
        "port {} of {} is a limited member of partition {:#06x}: it reaches full members only; ask for full "
        "membership in the subnet manager's partition configuration",
        port, from.name(), key));
}

int settled_mtu(const device& from, std::uint8_t port, const ibv_port_attr& attributes, int wanted) {
  const int active = mtu_bytes(attributes.active_mtu);
  if (active == 0)
    throw error(errc::unsupported, fmt::format("port {} of {} reports an unknown MTU", port, from.name()));
  if (wanted > active)
    throw error(
        errc::invalid_argument,
        fmt::format(
            "MTU of {} bytes is over the active MTU of port {} of {}, {} bytes: set CHORALE_MTU to at "
            "most that{}",
            wanted, port, from.name(), active,
            attributes.link_layer == IBV_LINK_LAYER_ETHERNET ? ", or raise the MTU of its network interface"
                                                             : ""));
  return wanted == 0 ? active : wanted;
}

choice settle(const config& settings, const device_info& info, const device& opened, std::string why,
              std::vector<std::string> remarks) {
  choice result{.device = info, .port = settings.port, .why = std::move(why), .remarks = std::move(remarks)};
  const ibv_port_attr port = opened.port(settings.port);
  if (!is_active(port.state))
    throw error(errc::no_device,
                fmt::format("port {} of {} is {}, not ACTIVE: {}; or set CHORALE_DEVICE=soft0", settings.port,
                            info.name, to_string(port.state), port_remedy(port)));
  const bool ethernet = port.link_layer == IBV_LINK_LAYER_ETHERNET;
  result.gid_index = settings.gid_index
                         ? configured_gid(opened, settings.port, *settings.gid_index, ethernet, result)
                         : default_gid(opened, settings.port, ethernet, result);
  check_pkey(opened, settings.port, settings.pkey_index, result);
  result.mtu_bytes = settled_mtu(opened, settings.port, port, settings.mtu);
  if (std::string_view{info.provider->name} != software)
    if (auto remark = memlock_remark(memlock_limit(), memlock_exempt())) result.remarks.push_back(*remark);
  return result;
}

/// Why `info` cannot be chosen automatically; nothing if it can, and then it is left open in `opened`.
std::optional<std::string> obstacle(const device_info& info, std::uint8_t port,
                                    std::optional<device>& opened) {
  if (info.transport != IBV_TRANSPORT_IB) return transport_remark(info);
  try {
    device candidate = device::open(info);
    const ibv_port_attr attributes = candidate.port(port);
    if (!is_active(attributes.state))
      return fmt::format("port {} of {} is {}: {}", port, info.name, to_string(attributes.state),
                         port_remedy(attributes));
    opened.emplace(std::move(candidate));
    return std::nullopt;
  } catch (const error& failure) {
    return fmt::format("{} cannot be used: {}", info.name, failure.what());
  }
}

/// The names in a list with commas between. @throws error errc::invalid_argument if one is empty.
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

choice choose_named(const config& settings, std::span<const driver* const> from, int local_rank) {
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
                        name, turn + 1, names.size(), local_rank),
      {});
}

}  // namespace

choice choose(const config& settings, std::span<const driver* const> from, int local_rank) {
  detail::require_same_layouts();
  settings.validate();
  if (local_rank < 0)
    throw error(errc::invalid_argument, fmt::format("local rank {} is below 0", local_rank));
  if (!settings.device.empty()) return choose_named(settings, from, local_rank);
  std::vector<std::string> remarks;

  const auto devices = list_devices(from, &remarks);
  std::size_t real = 0;
  for (const auto& info : devices) {
    if (std::string_view{info.provider->name} == software) continue;
    ++real;
    std::optional<device> opened;
    if (auto reason = obstacle(info, settings.port, opened))
      remarks.push_back(std::move(*reason));
    else
      return settle(settings, info, *opened,
                    fmt::format("{} is the first RDMA device with port {} active", info.name, settings.port),
                    std::move(remarks));
  }
  if (std::find(from.begin(), from.end(), rdma_core()) != from.end()) {
    const auto hidden = hidden_device_remarks(devices);
    remarks.insert(remarks.end(), hidden.begin(), hidden.end());
  }
  const auto fallback = std::find_if(devices.begin(), devices.end(), [](const device_info& d) {
    return std::string_view{d.provider->name} == software;
  });
  if (fallback == devices.end()) {
    std::string text = "no RDMA device that can be used, and no software device";
    for (const auto& remark : remarks) text += "; " + remark;
    throw error(errc::no_device, text);
  }
  const device opened = device::open(*fallback);
  return settle(settings, *fallback, opened,
                real == 0
                    ? fmt::format("{}: this machine has no RDMA device", fallback->name)
                    : fmt::format("{}: of {} RDMA device(s) of this machine, none has port {} ready for use",
                                  fallback->name, real, settings.port),
                std::move(remarks));
}

}  // namespace chorale::verbs
