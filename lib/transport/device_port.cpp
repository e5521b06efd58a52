#include <algorithm>
#include <utility>

#include <chorale/transport/device_port.hpp>

namespace chorale::transport {
namespace {

verbs::local_port port_of(const verbs::device& device, const verbs::choice& chosen, const config& settings) {
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

}  // namespace

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

device_port::device_port(const config& settings, int local_rank, const verbs::device_needs& needs)
    : chosen_(verbs::choose(settings, verbs::drivers(), local_rank, needs)),
      opened_(opened_device::of(chosen_.device)),
      local_(port_of(device(), chosen_, settings)),
      datagrams_(at_service_level(local_, settings.ud_service_level)),
      mtu_(local_.address.mtu) {
  const std::size_t most = device().port(local_.number).max_msg_sz;
  // Some report none.
  if (most != 0) largest_message_ = std::min(largest_message_, most);
}

device_port::device_port(std::shared_ptr<const opened_device> opened, const verbs::local_port& local)
    : opened_(std::move(opened)), local_(local), datagrams_(local), mtu_(local.address.mtu) {}

void device_port::add_peer(const verbs::endpoint_address& address) {
  peers_.push_back(address);
  if (address.mtu != 0) mtu_ = std::min(mtu_, address.mtu);
}

}  // namespace chorale::transport
