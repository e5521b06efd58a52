// SPDX-License-Identifier: Apache-2.0
// The devices that the communicators of a process share: the open ones, and how they were chosen.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <chorale/transport/wire/opened_device.hpp>
#include <chorale/verbs/selection.hpp>

namespace chorale::transport {

/// The settings on which the choice of a port depends.
struct port_request {
  std::string device;
  std::uint8_t port;
  std::optional<int> gid_index;
  std::optional<std::uint16_t> pkey_index;
  std::optional<std::uint16_t> pkey;
  int mtu;
  int local_rank;
  bool operator==(const port_request&) const = default;
};

struct kept_choice {
  port_request by;
  verbs::device_choice chosen;
  std::weak_ptr<const opened_device> opened;
};

struct devices_in_use {
  static devices_in_use& of_process();

  std::mutex lock;  ///< protects all members; also held while a device is opened
  std::map<std::pair<const verbs::driver*, std::string>, std::weak_ptr<const opened_device>> opened;
  std::vector<kept_choice> choices;
};

}  // namespace chorale::transport
