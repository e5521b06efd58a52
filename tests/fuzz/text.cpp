// SPDX-License-Identifier: Apache-2.0
// Text from the environment and from /proc: the first byte chooses what is read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <chorale/bootstrap/pmix.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>

#include "../../lib/soft/engine.hpp"
#include "../../lib/soft/fabric.hpp"

namespace {

void must(bool good) {
  if (!good) std::abort();
}

/// NAME=VALUE lines; only names that the code under test reads, so that the fuzzer cannot change its own
/// settings.
void set_variables(std::string_view text, bool set) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name{line.substr(0, equals)};
    const bool known = name.starts_with("CHORALE_") || name.starts_with("OMPI_") || name.starts_with("PMI") ||
                       name.starts_with("SLURM_");
    const std::string value{line.substr(equals + 1)};
    if (!known || value.find('\0') != std::string::npos || name.find('\0') != std::string::npos) continue;
    if (set)
      setenv(name.c_str(), value.c_str(), 1);
    else
      unsetenv(name.c_str());
  }
}

void read_settings() {
  try {
    const auto settings = chorale::config::from_environment();
    settings.validate();  // the environment's values must be in range
  } catch (const chorale::error& e) {
    must(e.code() == chorale::errc::invalid_environment);
    must(std::string_view{e.what()}.find("CHORALE_") != std::string_view::npos);
  }
  (void)chorale::unknown_environment_variables();
  must(!chorale::bootstrap::inspect_launch().explanation.empty());
  chorale::soft::engine_settings engine;
  (void)chorale::soft::read_engine_settings(engine);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  if (data[0] % 2 == 0) {
    set_variables(text, true);
    read_settings();
    set_variables(text, false);
  } else {
    chorale::soft::member_name found{};
    if (chorale::soft::read_member_name(text, "chorale-soft/0/default", found)) {
      must(found.slot < chorale::soft::slot_count && found.pid > 0 && found.registry_fd >= 0);
      must(text.find("chorale-soft/0/default/") != std::string_view::npos);
    }
    (void)chorale::soft::is_fabric_name(text);
  }
  return 0;
}
