// What chorale-info finds out, before it is printed as text or JSON.
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

/// A limit of a device, by the name that ibv_device_attr gives it.
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

/// A CHORALE_* variable that nothing reads.
struct stray {
  std::string name;
  std::string nearest;  ///< the known name that it resembles; empty if none does
};

struct feature {
  std::string name;
  bool present = false;
  std::string otherwise;  ///< what its absence means
};

struct report {
  std::string version;
  std::string compiler;
  std::vector<feature> features;
  chorale::bootstrap::launch launch;
  std::vector<device> devices;
  std::vector<std::string> remarks;  ///< what keeps a driver from listing its devices
  std::vector<setting> settings;
  std::vector<stray> strays;
  std::string settings_problem;  ///< why the environment cannot be used; empty if it can
  std::optional<chorale::verbs::choice> choice;
  std::string choice_problem;  ///< why nothing could be chosen
};

/// Looks at this machine and this environment. Needs no launcher; throws only if memory runs out.
report gather();

/// The settings with the values that a communicator would take from the environment now.
std::vector<setting> gather_settings();
std::vector<stray> gather_strays();

void print_text(const report& r);
/// One object; see tools/README.md for its members.
std::string to_json(const report& r);

}  // namespace info
