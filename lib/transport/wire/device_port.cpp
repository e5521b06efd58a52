// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <chorale/core/system_services.hpp>
#include <chorale/transport/wire/device_port.hpp>

#include "devices_in_use.hpp"

namespace chorale::transport {
namespace {

verbs::local_port port_of(const verbs::device& device, const verbs::device_choice& chosen,
                          const config& settings) {
  auto port = verbs::query_local_port(device, chosen.port, chosen.gid_index, settings.service_level,
                                      chosen.pkey_index);
  port.traffic_class = settings.traffic_class;
  port.address.mtu = static_cast<std::uint8_t>(verbs::mtu_from_bytes(chosen.mtu_bytes));
  return port;
}

verbs::local_port at_service_level(verbs::local_port port, std::optional<int> level) {
  if (level) port.service_level = static_cast<std::uint8_t>(*level);
  return port;
}

bool is_active(const opened_device& opened, std::uint8_t port) {
  const ibv_port_state state = opened.device.port(port).state;
  return state == IBV_PORT_ACTIVE || state == IBV_PORT_ACTIVE_DEFER;
}

}  // namespace

struct device_port::selected {
  static selected by(const config& settings, int local_rank);
  verbs::device_choice chosen;
  std::shared_ptr<const opened_device> opened;
};

device_port::selected device_port::selected::by(const config& c, int local_rank) {
  const port_request wanted{c.device, c.port, c.gid_index, c.pkey_index, c.pkey, c.mtu, local_rank};
  // Simulated ranks share a process, but no device.
  const bool keeps = system_services::replaced() == nullptr;
  auto& in_use = devices_in_use::of_process();
  if (keeps) {
    selected known;
    {
      const std::lock_guard hold{in_use.lock};
      const auto& all = in_use.choices;
      const auto found =
          std::find_if(all.begin(), all.end(), [&](const kept_choice& k) { return k.by == wanted; });
      if (found != all.end()) known = {found->chosen, found->opened.lock()};
    }
    // The last reference to the device may end here, and its destructor takes the lock: so not under the
    // lock.
    if (known.opened && is_active(*known.opened, c.port)) return known;
  }
  selected made{verbs::choose(c, verbs::drivers(), local_rank), nullptr};
  made.opened = opened_device::of(made.chosen.device);
  if (keeps) {
    const std::lock_guard hold{in_use.lock};
    in_use.choices.push_back({wanted, made.chosen, made.opened});
  }
  return made;
}

config port_selection::within(config settings) const {
  settings.device = device;
  settings.port = port;
  settings.gid_index = gid_index;
  settings.pkey_index = pkey_index;
  settings.pkey = pkey;
  settings.service_level = service_level;
  settings.mtu = mtu;
  return settings;
}

device_port::device_port(const config& settings, int local_rank)
    : device_port(selected::by(settings, local_rank), settings) {}

device_port device_port::to_place(const config& settings, int local_rank, const device_port& other) {
  const config own = port_selection{.device = verbs::software_name}.within(settings);
  if (!other.device().is_soft()) return {own, local_rank};
  return {selected{other.chosen_, opened_device::of(other.chosen_.device, true)}, own};
}

device_port::device_port(selected by, const config& settings)
    : chosen_(std::move(by.chosen)),
      opened_(std::move(by.opened)),
      local_(port_of(device(), chosen_, settings)),
      datagrams_(at_service_level(local_, settings.ud_service_level)),
      mtu_(local_.address.mtu) {
  const std::size_t most = device().port(local_.number).max_msg_sz;
  // Some devices report no limit.
  if (most != 0) largest_message_ = std::min(largest_message_, most);
}

device_port::device_port(std::shared_ptr<const opened_device> opened, const verbs::local_port& local)
    : opened_(std::move(opened)), local_(local), datagrams_(local), mtu_(local.address.mtu) {}

void device_port::add_peer(const verbs::endpoint_address& address) {
  peers_.add(address);
  if (address.mtu != 0) mtu_ = std::min(mtu_, address.mtu);
}

}  // namespace chorale::transport
