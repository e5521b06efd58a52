#include <utility>

#include <chorale/transport/device_port.hpp>

namespace chorale::transport {
namespace {

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
  settings.service_level = service_level;
  settings.mtu = mtu;
  return settings;
}

device_port::device_port(const config& settings, int local_rank)
    : chosen_(verbs::choose(settings, verbs::drivers(), local_rank)),
      opened_(std::make_shared<opened_device>(chosen_.device)),
      local_(verbs::query_local_port(device(), chosen_.port, chosen_.gid_index, settings.service_level)),
      datagrams_(at_service_level(local_, settings.ud_service_level)),
      pkey_index_(settings.pkey_index) {}

device_port::device_port(std::shared_ptr<const opened_device> opened, const verbs::local_port& local)
    : opened_(std::move(opened)), local_(local), datagrams_(local) {}

}  // namespace chorale::transport
