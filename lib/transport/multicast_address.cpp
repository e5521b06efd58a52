#include "multicast_address.hpp"

#include <cstring>

#include <fmt/format.h>

#include <chorale/core/error.hpp>

#include "mixing.hpp"

namespace chorale::transport {
namespace {

constexpr std::uint64_t of_groups = 0x6d63617374475250ULL;

/// Empty if the port can be joined to groups.
std::string obstacle(const verbs::device& device, const verbs::local_port& port) {
  if (device.attributes().max_mcast_grp <= 0) return "the device has none (max_mcast_grp is 0)";
  // A group of an InfiniBand fabric has to be made by its subnet administrator, which is asked through
  // librdmacm.
  if (!port.ethernet && !device.is_soft())
    return "on InfiniBand the subnet administrator would have to make the group, which this library does not "
           "ask "
           "for";
  return {};
}

}  // namespace

ibv_gid multicast_gid(const verbs::local_port& port, std::uint64_t secret) noexcept {
  // A part of the hash only: who reads it does not learn the secret.
  const auto part = static_cast<std::uint32_t>(mixed(secret ^ of_groups) >> 32);
  ibv_gid group{};
  if (verbs::is_ipv4_mapped(port.address.gid)) {
    group.raw[10] = group.raw[11] = 0xff;
    group.raw[12] = 239;
    std::memcpy(group.raw + 13, &part, 3);
  } else {
    group.raw[0] = 0xff;
    group.raw[1] = 0x12;  // transient, of this link
    group.raw[11] = 0xc0;
    std::memcpy(group.raw + 12, &part, 4);
  }
  return group;
}

bool has_multicast(const verbs::device& device, const verbs::local_port& port) {
  return obstacle(device, port).empty();
}

void require_multicast(const verbs::device& device, const verbs::local_port& port) {
  if (const std::string why = obstacle(device, port); !why.empty())
    throw error(
        errc::unsupported,
        fmt::format("multicast on {}: {}; choose algorithms without it, such as barrier::dissemination, "
                    "broadcast::binomial and allreduce::degree_k, or a RoCE device or soft0",
                    device.name(), why));
}

}  // namespace chorale::transport
