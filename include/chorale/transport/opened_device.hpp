// A device that a transport has opened, and its protection domain.
#pragma once

#include <chorale/verbs/device.hpp>
#include <chorale/verbs/protection_domain.hpp>

namespace chorale::transport {

/// Shared by all objects that may outlive the transport: the device stays open until the last of them ends.
struct opened_device {
  explicit opened_device(const verbs::device_info& which)
      : device(verbs::device::open(which)), domain(device) {}

  verbs::device device;
  verbs::protection_domain domain;
};

}  // namespace chorale::transport
