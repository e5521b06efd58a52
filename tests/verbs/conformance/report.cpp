// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "../support.hpp"

namespace conformance {
namespace {

std::map<std::string, std::set<std::pair<std::string, std::string>>> differences;
std::set<std::pair<std::string, std::string>> skipped;  // test, reason

std::string find_family() {
  const std::string name = test::device_name();
  if (name == "soft0") return "soft";
  // Only Soft-RoCE has a file with its network interface.
  if (std::filesystem::exists("/sys/class/infiniband/" + name + "/parent")) return "rxe";
  std::string family = name;
  while (!family.empty() && std::isdigit(static_cast<unsigned char>(family.back())) != 0) family.pop_back();
  return family;
}

struct summary : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testRunEnded(const Catch::TestRunStats& run) override {
    const auto hidden = m_config->getTestsOrTags();
    if (run.totals.assertions.total() == 0 || (!hidden.empty() && hidden.front().starts_with("child: ")))
      return;
    const char* const engine = std::getenv("CHORALE_SOFT_ENGINE");
    std::printf("device: %s (%s%s%s)\n", test::device_name().c_str(), device_family().c_str(),
                engine == nullptr ? "" : ", engine ", engine == nullptr ? "" : engine);
    std::printf("checks: %zu in %zu tests, %zu failed\n", run.totals.assertions.total(),
                run.totals.testCases.total(), run.totals.assertions.failed);
    std::printf("documented differences seen: %zu\n", differences.size());
    for (const auto& [rule, all] : differences)
      for (const auto& [seen, why] : all)
        std::printf("  * %s: %s. %s\n", rule.c_str(), seen.c_str(), why.c_str());
    std::printf("left out: %zu\n", skipped.size());
    for (const auto& [test, why] : skipped) std::printf("  * %s: %s\n", test.c_str(), why.c_str());
    std::fflush(stdout);
  }
};
CATCH_REGISTER_LISTENER(summary)

}  // namespace

std::string device_family() {
  static const std::string family = find_family();
  return family;
}

bool is_simulated() {
  return device_family() == "sim";
}

void record_difference(std::string_view rule, const std::string& seen, std::string_view why) {
  differences[std::string{rule}].emplace("saw " + seen, why);
}

void skip(const std::string& why) {
  skipped.emplace(Catch::getResultCapture().getCurrentTestName(), why);
}

}  // namespace conformance
