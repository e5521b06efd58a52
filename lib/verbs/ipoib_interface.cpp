// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "../core/streams_reserved.hpp"
#include "../core/system_files.hpp"
#include "managed_membership.hpp"

namespace chorale::verbs {
namespace {

/// The number in a file of sysfs, decimal or prefixed by 0x.
std::optional<unsigned long> number_in(const std::filesystem::path& file) {
  const std::string text = detail::word_of_system(file);
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const unsigned long value = std::strtoul(text.c_str(), &end, 0);
  return *end == '\0' ? std::optional{value} : std::nullopt;
}

}  // namespace

std::string ipoib_interface(const std::string& sysfs, const std::string& device, std::uint8_t port,
                            std::uint16_t pkey_index) {
  // The top bit distinguishes full from limited members of a partition.
  constexpr unsigned long partition = 0x7fff;
  const auto adapter = std::filesystem::path{sysfs} / "class/infiniband" / device;
  const auto wanted =
      number_in(adapter / "ports" / fmt::to_string(port) / "pkeys" / fmt::to_string(pkey_index));
  std::error_code none;
  std::string found;
  for (const auto& entry : detail::above_streams([&] {
         return std::filesystem::directory_iterator{adapter / "device/net", none};
       })) {
    // Older drivers count the ports of an adapter in dev_id.
    const auto number = [&](const char* name) { return number_in(entry.path() / name).value_or(0); };
    if (number("dev_port") + 1 != port && number("dev_id") + 1 != port) continue;
    const auto pkey = number_in(entry.path() / "pkey");
    if (!pkey || (wanted && (*pkey & partition) != (*wanted & partition))) continue;
    const std::string name = entry.path().filename();
    if (found.empty() || name < found) found = name;
  }
  return found;
}

ibv_gid of_subnet_administrator(std::uint32_t number) noexcept {
  ibv_gid group{};
  group.raw[0] = 0xff;
  group.raw[1] = 0x12;
  group.raw[2] = 0xa0;
  group.raw[3] = 0x1b;
  for (int i = 0; i < 4; ++i) group.raw[12 + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  return group;
}

}  // namespace chorale::verbs
