#include "terms.hpp"

#include <cstring>
#include <string>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/core/fnv.hpp>

#include "../core/printable.hpp"
#include "mixing.hpp"

namespace chorale::transport {
namespace {

bool is_same(const verbs::endpoint_address& a, const verbs::endpoint_address& b) noexcept {
  return a.lid == b.lid && std::memcmp(a.gid.raw, b.gid.raw, sizeof a.gid.raw) == 0;
}

/// Why two ranks are in different fabrics of soft0.
std::string why_apart(int peer, const group_terms& theirs, int rank, const group_terms& mine) {
  const auto pair = [&](const char* rule, const auto& there, const auto& here, const char* remedy) {
    return fmt::format("soft0 {}: rank {} {}, rank {} {}; {}", rule, peer, there, rank, here, remedy);
  };
  if (!(theirs.host == mine.host))
    return pair("reaches one host only", "is on " + theirs.host.text(), "is on " + mine.host.text(),
                "use an RDMA device, or start all ranks on one host");
  if (theirs.user.id != mine.user.id)
    return pair("connects processes of one user", fmt::format("runs as user {}", theirs.user.id),
                fmt::format("as user {}", mine.user.id), "start all ranks as one user");
  if (theirs.user.name_space != mine.user.name_space || theirs.pid_namespace != mine.pid_namespace)
    return pair("connects processes that see each other in /proc", "is in one PID or user name space",
                "in another",
                "start all ranks in one container, or have their containers share it (--pid=host, "
                "--pid=container:NAME)");
  return pair(
      "connects processes of one fabric", "is in one", "in another",
      "are they in different network name spaces, or is CHORALE_SOFT_FABRIC or PMIX_NAMESPACE not the "
      "same on all ranks?");
}

}  // namespace

void group_terms::set_transport(std::string_view name) {
  transport_hash = detail::fnv1a(name);
  name.copy(transport, sizeof transport - 1);
}

void group_terms::set_composition(std::string_view text) {
  composition_hash = detail::fnv1a(text);
  text.copy(composition, sizeof composition - 1);
}

std::uint64_t group_terms::fingerprint() const noexcept {
  std::uint64_t h = 0;
  const auto add = [&h](std::uint64_t word) { h = mixed((h + 0x9e3779b97f4a7c15ULL) ^ word); };
  for (const std::uint64_t word :
       {block_bytes, blocks, zero_copy_bytes, tuning, connections, static_cast<std::uint64_t>(mtu),
        transport_hash, composition_hash, is_soft, std::uint64_t{fabric.lid}})
    add(word);
  for (const std::uint8_t byte : fabric.gid.raw) add(byte);
  if (is_soft != 0) add(transport::fingerprint(host));
  return h;
}

std::uint64_t fingerprint(const host_identity& host) noexcept {
  const auto text = [](const auto& array) { return std::string_view{array, ::strnlen(array, sizeof array)}; };
  return mixed(detail::fnv1a(text(host.name))) ^ detail::fnv1a(text(host.boot));
}

bool read_terms(std::span<const std::byte> bytes, group_terms& terms) noexcept {
  if (bytes.size() != sizeof terms) return false;
  std::memcpy(static_cast<void*>(&terms), bytes.data(), sizeof terms);
  for (const std::span<char> text :
       {std::span<char>{terms.transport}, std::span<char>{terms.composition}, std::span<char>{terms.device},
        std::span<char>{terms.host.name}, std::span<char>{terms.host.boot}})
    text.back() = '\0';
  return true;
}

void require_same_terms(int rank, const group_terms& mine, int peer, const group_terms& theirs) {
  const auto differ = [&](const char* what, const auto& here, const auto& there, const char* remedy) {
    throw error(errc::mismatch,
                fmt::format("{} differs between ranks: {} on rank {}, {} on rank {}; {}", what, here, rank,
                            there, peer, remedy),
                {rank, peer});
  };
  if (theirs.transport_hash != mine.transport_hash)
    differ("the transport", printable(mine.transport), printable(theirs.transport),
           "use one communicator type on all ranks");
  if (theirs.composition_hash != mine.composition_hash)
    differ("the composition of the communicator", fmt::format("'{}'", printable(mine.composition)),
           fmt::format("'{}'", printable(theirs.composition)), "use one communicator type on all ranks");
  if (theirs.block_bytes != mine.block_bytes)
    differ("config::block_bytes", mine.block_bytes, theirs.block_bytes, "set CHORALE_BLOCK_BYTES alike");
  if (theirs.blocks != mine.blocks)
    differ("config::blocks", mine.blocks, theirs.blocks, "set CHORALE_BLOCKS alike");
  if (theirs.zero_copy_bytes != mine.zero_copy_bytes)
    differ("config::zero_copy_bytes", mine.zero_copy_bytes, theirs.zero_copy_bytes,
           "set CHORALE_ZERO_COPY_BYTES alike");
  if (theirs.tuning != mine.tuning)
    differ("the tuning table", mine.tuning, theirs.tuning, "set CHORALE_TUNING to the same file");
  if (theirs.connections != mine.connections)
    differ("config::connections", mine.connections, theirs.connections, "set CHORALE_CONNECTIONS alike");
  if (theirs.mtu != mine.mtu)
    differ("the path MTU", mine.mtu, theirs.mtu, "set CHORALE_MTU to the smaller one");
  if (theirs.is_soft != mine.is_soft)
    differ("the kind of device", printable(mine.device), printable(theirs.device),
           "set CHORALE_DEVICE alike");
  if (mine.is_soft != 0 && !(theirs.host == mine.host && is_same(theirs.fabric, mine.fabric)))
    throw error(errc::unsupported, why_apart(peer, theirs, rank, mine), {peer});
}

}  // namespace chorale::transport
