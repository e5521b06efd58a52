// SPDX-License-Identifier: Apache-2.0
#include "terms.hpp"

#include <cstring>
#include <string>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/core/fnv.hpp>

#include "../../core/printable.hpp"
#include "mixing.hpp"

namespace chorale::transport {
namespace {

/// The device ports of a rank, formatted for errors.
std::string list_ports(const group_terms& terms) {
  std::string text = fmt::format("{} (", terms.port_count);
  for (std::uint32_t i = 0; i < terms.port_count; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", printable(terms.ports[i].device));
  return text + ")";
}

const char* reach_of(const port_terms& port) noexcept {
  return port.is_for_all != 0 ? "all ranks" : "some ranks";
}

const char* in_proc(const group_terms& terms) noexcept {
  return terms.pid_namespace == 0 ? "does not" : "does";
}

const char* openness(const group_terms& terms) noexcept {
  return terms.user.is_closed != 0 ? "is protected from its own user (PR_GET_DUMPABLE is not 1)" : "is open";
}

std::string describe_numbers(std::uint64_t numbers) {
  return fmt::format("{} endian, char {}signed, long double of {} digits",
                     (numbers & 1U) != 0 ? "big" : "little", (numbers & 2U) != 0 ? "" : "un", numbers / 256);
}

/// Why two ranks are in different fabrics of soft0, or cannot reach each other within one.
std::string why_apart(const std::string& which, int peer, const group_terms& theirs, int rank,
                      const group_terms& mine) {
  const auto pair = [&](const char* rule, const auto& there, const auto& here, const char* remedy) {
    return fmt::format("soft0{} {}: rank {} {}, rank {} {}; {}", which, rule, peer, there, rank, here,
                       remedy);
  };
  if (!(theirs.host == mine.host))
    return pair("reaches one host only", "is on " + theirs.host.text(), "is on " + mine.host.text(),
                "use an RDMA device, or start all ranks on one host");
  if (theirs.user.id != mine.user.id)
    return pair("connects processes of one user", fmt::format("runs as user {}", theirs.user.id),
                fmt::format("as user {}", mine.user.id), "start all ranks as one user");
  if (theirs.user.group != mine.user.group)
    return pair("connects processes of one group", fmt::format("runs with group {}", theirs.user.group),
                fmt::format("with group {}", mine.user.group), "start all ranks with one group");
  if (theirs.pid_namespace == 0 || mine.pid_namespace == 0)
    return pair("connects processes that find themselves in /proc", in_proc(theirs), in_proc(mine),
                "mount the /proc of this PID name space (mount -t proc proc /proc, unshare --mount-proc)");
  if (theirs.user.name_space != mine.user.name_space || theirs.pid_namespace != mine.pid_namespace)
    return pair("connects processes that see each other in /proc", "is in one PID or user name space",
                "in another",
                "start all ranks in one container, or have their containers share it (--pid=host, "
                "--pid=container:NAME)");
  if (theirs.user.is_closed != 0 || mine.user.is_closed != 0)
    return pair(
        "connects processes that may open each other's memory in /proc", openness(theirs), openness(mine),
        "make the program's file readable for its user, start it as the user that it shall have instead "
        "of by setuid(), file capabilities or a setuid bit, and leave prctl(PR_SET_DUMPABLE) at 1");
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
       {messages.block_bytes, messages.blocks, messages.zero_copy_bytes, messages.alltoall_zero_copy_bytes,
        messages.eager_bytes, messages.eager_way, messages.send_block_bytes, messages.long_sends, tuning,
        trials, numbers, places, messages.near, std::uint64_t{connections}, transport_hash, composition_hash,
        std::uint64_t{port_count}})
    add(word);
  for (const port_terms& p : std::span{ports}.first(port_count)) {
    for (const std::uint64_t word :
         {std::uint64_t{p.is_soft}, std::uint64_t{p.is_for_all}, std::uint64_t{p.fabric}})
      add(word);
    if (p.is_for_all == 0) continue;
    add(transport::fingerprint(host));
    add(user.is_closed);
  }
  return h;
}

std::span<const std::byte> group_terms::bytes() const noexcept {
  return detail::bytes_of(*this).first(sizeof *this - (most_ports - port_count) * sizeof(port_terms));
}

std::uint64_t fingerprint(const host_identity& host) noexcept {
  const auto text = [](const auto& array) { return std::string_view{array, ::strnlen(array, sizeof array)}; };
  return mixed(detail::fnv1a(text(host.name))) ^ detail::fnv1a(text(host.boot));
}

bool read_terms(std::span<const std::byte> bytes, group_terms& terms) noexcept {
  terms = {};
  if (bytes.size() < terms.bytes().size() || bytes.size() > sizeof terms) return false;
  std::memcpy(static_cast<void*>(&terms), bytes.data(), bytes.size());
  if (terms.port_count == 0 || terms.port_count > group_terms::most_ports ||
      bytes.size() != terms.bytes().size())
    return false;
  for (const std::span<char> text : {std::span<char>{terms.transport}, std::span<char>{terms.composition},
                                     std::span<char>{terms.host.name}, std::span<char>{terms.host.boot}})
    text.back() = '\0';
  for (port_terms& p : terms.ports) p.device[sizeof p.device - 1] = '\0';
  return true;
}

void require_same_terms(int rank, const group_terms& mine, int peer, const group_terms& theirs) {
  const auto differ = [&](const std::string& what, const auto& here, const auto& there, const char* remedy) {
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
  const auto compare = [&](const char* what, std::uint64_t message_terms::*part, const char* remedy) {
    const auto in_words = [&](const group_terms& terms) {
      const std::uint64_t value = terms.messages.*part;
      return value == message_terms::unset ? "unset" : fmt::to_string(value);
    };
    if (theirs.messages.*part != mine.messages.*part) differ(what, in_words(mine), in_words(theirs), remedy);
  };
  compare("config::block_bytes", &message_terms::block_bytes, "set CHORALE_BLOCK_BYTES alike");
  compare("config::blocks", &message_terms::blocks, "set CHORALE_BLOCKS alike");
  compare("config::zero_copy_bytes", &message_terms::zero_copy_bytes, "set CHORALE_ZERO_COPY_BYTES alike");
  compare("config::alltoall_zero_copy_bytes", &message_terms::alltoall_zero_copy_bytes,
          "set CHORALE_ALLTOALL_ZERO_COPY_BYTES alike");
  compare("config::send_receive_eager_bytes", &message_terms::eager_bytes,
          "set CHORALE_SEND_RECEIVE_EAGER_BYTES alike");
  compare("config::send_receive_eager", &message_terms::eager_way, "set CHORALE_SEND_RECEIVE_EAGER alike");
  compare("config::send_receive_block_bytes", &message_terms::send_block_bytes,
          "set CHORALE_SEND_RECEIVE_BLOCK_BYTES alike");
  compare("config::near", &message_terms::near, "set CHORALE_NEAR alike");
  compare("config::send_receive_long", &message_terms::long_sends, "set CHORALE_SEND_RECEIVE_LONG alike");
  if (theirs.tuning != mine.tuning)
    differ("the tuning table", mine.tuning, theirs.tuning, "set CHORALE_TUNING to the same file");
  if (theirs.trials != mine.trials)
    differ("config::trials", mine.trials, theirs.trials, "set CHORALE_TRIALS alike");
  if (theirs.places != mine.places)
    differ("config::places", mine.places, theirs.places, "set CHORALE_PLACES alike");
  if (theirs.numbers != mine.numbers)
    differ("the format of numbers", describe_numbers(mine.numbers), describe_numbers(theirs.numbers),
           "start all ranks on machines of one kind");
  if (theirs.connections != mine.connections)
    differ("config::connections", mine.connections, theirs.connections, "set CHORALE_CONNECTIONS alike");
  if (theirs.port_count != mine.port_count)
    differ("the number of device ports", list_ports(mine), list_ports(theirs),
           "the transport has to ask for the same ports on all ranks");
  for (std::uint32_t i = 0; i < mine.port_count; ++i) {
    const port_terms& here = mine.ports[i];
    const port_terms& there = theirs.ports[i];
    // Settings apply to the first port; the transport requests the others.
    const std::string which = i == 0 ? "" : fmt::format(" of device port {} of {}", i + 1, mine.port_count);
    const char* const remedy = "the transport has to ask for the same ports on all ranks";
    if (there.is_soft != here.is_soft)
      differ("the kind of device" + which, printable(here.device), printable(there.device),
             i == 0 ? "set CHORALE_DEVICE alike" : remedy);
    if (there.is_for_all != here.is_for_all)
      differ("the reach" + which, reach_of(here), reach_of(there), remedy);
    if (here.is_for_all != 0 && !(theirs.host == mine.host && there.fabric == here.fabric &&
                                  theirs.user.is_closed == mine.user.is_closed))
      throw error(errc::unsupported, why_apart(which, peer, theirs, rank, mine), {peer});
  }
}

}  // namespace chorale::transport
