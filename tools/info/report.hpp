// SPDX-License-Identifier: Apache-2.0
// The data that chorale-info prints as text or JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <chorale/bootstrap/pmix.hpp>
#include <chorale/verbs/selection.hpp>

namespace info {

struct gid {
  int index = 0;
  std::string address;
  std::string type;  ///< "IB", "RoCE v1" or "RoCE v2"
};

struct port {
  int number = 1;
  std::string state;
  std::string link_layer;
  std::uint16_t lid = 0;
  int mtu_bytes = 0;      ///< active
  int max_mtu_bytes = 0;  ///< of the hardware
  std::vector<gid> gids;
  std::string problem;  ///< why it cannot be read; empty if it can
};

/// A limit of a device, named as in ibv_device_attr.
struct limit {
  std::string name;
  std::uint64_t value = 0;
  std::string meaning;
};

struct device {
  std::string name;
  std::string provider;
  bool software = false;
  std::string firmware;
  std::vector<limit> limits;
  std::vector<port> ports;
  std::string problem;  ///< why it cannot be opened; empty if it can
};

struct setting {
  std::string name;
  std::string value;
  bool from_environment = false;
  std::string accepts;
  std::string meaning;
};

/// An unknown CHORALE_* variable.
struct stray {
  std::string name;
  std::string nearest;  ///< the known name most similar to it; empty if none is
};

struct feature {
  std::string name;
  bool present = false;
  std::string otherwise;  ///< the meaning of its absence
};

struct report {
  std::string version;
  std::string compiler;
  std::vector<feature> features;
  chorale::bootstrap::launch launch;
  std::vector<device> devices;
  std::vector<std::string> remarks;  ///< reasons why a driver cannot list its devices
  std::vector<setting> settings;
  std::vector<stray> strays;
  std::string settings_problem;  ///< why the environment cannot be used; empty if it can
  std::optional<chorale::verbs::device_choice> choice;
  std::string choice_problem;  ///< why nothing could be chosen
};

/// Inspects this machine and environment. Needs no launcher; throws only if memory runs out.
report gather();

/// The settings, with the values that a communicator would now read from the environment.
std::vector<setting> gather_settings();
std::vector<stray> gather_strays();

void print_text(const report& r);
/// One object; see tools/README.md for its members.
std::string to_json(const report& r);

}  // namespace info
