// A machine to simulate: how many hosts, and what everything on it costs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <chorale/simulation/machine/adapter_costs.hpp>
#include <chorale/simulation/machine/host_costs.hpp>
#include <chorale/simulation/machine/network_costs.hpp>

namespace chorale::simulation {

/// Where a number of a machine comes from, as its file says it.
struct provenance {
  std::string parameter;  ///< such as "adapter.sending.gap"
  std::string value;      ///< with its unit, such as "5 ns"
  std::string source;     ///< a work in the file's `sources`, or an estimate with its reason
};

/// A machine, from a file (docs/machines.md describes it) or put together by a program. What is not set costs
/// nothing. Ranks are dealt to hosts in order: the first `ranks_per_host` to the first.
struct machine {
  std::string name;                 ///< such as "hdr-64core"
  std::string description;          ///< in words
  int hosts = 0;                    ///< how many, all alike
  int ranks_per_host = 1;           ///< at most
  host_costs host;                  ///< of each host
  adapter_costs adapter;            ///< of each host's adapter
  network_costs network;            ///< between adapters
  std::vector<provenance> sources;  ///< of each number in the file, in its order
};

/// The machine of that name that comes with the library, such as "hdr-64core", or that of a file.
/// Throws `error` (`errc::invalid_argument`) if there is neither, or if the file is wrong: see below.
[[nodiscard]] machine read_machine(const std::string& name);

/// The names of the machines that come with the library, in their order.
[[nodiscard]] std::vector<std::string> machine_names();

/// Reads a machine from the text of a file, which errors name `file`. Throws `error`
/// (`errc::invalid_argument`) with file, line and what was expected where it is wrong: what is missing,
/// unknown, negative or of the wrong kind. `errc::unsupported` where Chorale was built without nlohmann-json.
[[nodiscard]] machine parse_machine(std::string_view text, const std::string& file);

/// Throws `error` (`errc::invalid_argument`) where the machine is not one that can be simulated: no hosts,
/// more of them than its topology has room for, packets or bursts of no bytes, negative times.
void validate(const machine& of);

}  // namespace chorale::simulation
