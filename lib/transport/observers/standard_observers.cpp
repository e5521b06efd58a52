// SPDX-License-Identifier: Apache-2.0
#include "standard_observers.hpp"

#include "call_counter.hpp"
#include "call_log.hpp"
#include "call_trace.hpp"
#include "shared_file.hpp"

namespace chorale::transport {

std::vector<std::shared_ptr<observer>> standard_observers(const config& settings,
                                                          const observed_communicator& who) {
  std::vector<std::shared_ptr<observer>> all;
  if (settings.log != log_level::off) all.push_back(std::make_shared<call_log>(settings.log));
  if (settings.statistics.is_on()) all.push_back(std::make_shared<call_counter>(settings.statistics.file()));
  if (!settings.trace.empty())
    all.push_back(std::make_shared<call_trace>(settings.trace, settings.trace_records, who));
  return all;
}

void require_places(const config& settings) {
  if (settings.statistics.file())
    require_writable(*settings.statistics.file(), "CHORALE_STATISTICS (config::statistics)");
  if (!settings.trace.empty()) require_writable(settings.trace, "CHORALE_TRACE (config::trace)");
}

}  // namespace chorale::transport
