#include <chorale/transport/device_port.hpp>

namespace chorale::transport {

device_port::device_port(const config& settings, int local_rank)
    : chosen_(verbs::choose(settings, verbs::drivers(), local_rank)),
      opened_(std::make_shared<opened_device>(chosen_.device)),
      local_(verbs::query_local_port(device(), chosen_.port, chosen_.gid_index, settings.service_level)) {}

}  // namespace chorale::transport
