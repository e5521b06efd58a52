// SPDX-License-Identifier: Apache-2.0
// A machine to simulate: its hosts, and the costs of everything on it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/simulation/machine/adapter_costs.hpp>
#include <chorale/simulation/machine/host_costs.hpp>
#include <chorale/simulation/machine/host_layout.hpp>
#include <chorale/simulation/machine/network_costs.hpp>

namespace chorale::simulation {

/// The source of a number of a machine, as given in its file.
struct provenance {
  std::string parameter;  ///< such as "adapter.sending.gap"
  std::string value;      ///< with its unit, such as "5 ns"
  std::string source;     ///< a work in the file's `sources`, or an estimate with its reason
};

/// A machine, from a file (docs/machines.md describes it) or constructed by a program. Costs are zero by
/// default.
struct machine {
  std::string name;                                            ///< such as "hdr-64core"
  std::string description;                                     ///< in words
  int hosts = 0;                                               ///< all alike
  int ranks_per_host = 1;                                      ///< at most
  host_layout::order numbering = host_layout::order::by_host;  ///< of the ranks
  host_costs host;                                             ///< of each host
  adapter_costs adapter;                                       ///< of each host's adapter
  network_costs network;                                       ///< between adapters
  /// Between the ranks of a host, by a simulated `soft0`; none: they use its adapter.
  std::optional<near_costs> near{};
  std::vector<provenance> sources;  ///< of each number in the file, in its order
};

/// The machine of that name shipped with the library, such as "hdr-64core", or read from a file. Throws
/// `error` (`errc::invalid_argument`) if there is neither, or if the file is invalid: see below.
[[nodiscard]] machine read_machine(const std::string& name);

/// The names of the machines shipped with the library, in alphabetical order.
[[nodiscard]] std::vector<std::string> machine_names();

/// Parses the text of a machine file, which errors name `file`. Throws `error` (`errc::invalid_argument`)
/// with file, line and expectation if anything is missing, unknown, negative or of the wrong type;
/// `errc::unsupported` if Chorale was built without nlohmann-json.
[[nodiscard]] machine parse_machine(std::string_view text, const std::string& file);

/// Throws `error` (`errc::invalid_argument`) if the machine cannot be simulated: no hosts, more hosts than
/// its topology has room for, packets or bursts of no bytes, negative times.
void validate(const machine& of);

/// Where ranks are on that machine. Throws `error` (`errc::invalid_argument`) if it cannot be simulated, or
/// has no room for `ranks`.
[[nodiscard]] host_layout layout_of(int ranks, const machine& on);

}  // namespace chorale::simulation
