// How a rank joins its group: what it tells of itself, what it must find at the others, and what it says if
// it cannot.
#include <algorithm>
#include <cstring>
#include <unistd.h>

#include <fmt/format.h>

#include <chorale/core/printable.hpp>
#include <chorale/model/tuning.hpp>
#include <chorale/transport/endpoint.hpp>

#include "host.hpp"
#include "messages.hpp"
#include "mixing.hpp"
#include "peers_watched.hpp"

namespace chorale::transport {
namespace {

std::uint64_t unguessable() {
  std::uint64_t word = 0;
  if (getentropy(&word, sizeof word) != 0)
    throw error(errc::unsupported,
                "getentropy() gives no random bytes for the group's secret: a kernel older "
                "than 3.17, or a sandbox that forbids getrandom(2)");
  return word;
}

}  // namespace

struct endpoint::card : rank_card {};

const endpoint::group_view& endpoint::checked(const group_view& group) {
  if (group.size < 1 || group.rank < 0 || group.rank >= group.size)
    throw error(
        errc::bootstrap_failed,
        fmt::format("the bootstrap says that this is rank {} of {}: ranks are 0 to size - 1, of at least "
                    "one; mend its rank() and size()",
                    group.rank, group.size));
  return group;
}

void endpoint::open_device(const group_view& group, const datagram_port::options& port) {
  settings_.validate();
  chosen_ = verbs::choose(settings_, verbs::drivers(), group.local_rank);
  opened_ = std::make_shared<opened_device>(chosen_.device);
  local_ = verbs::query_local_port(device(), chosen_.port, chosen_.gid_index, settings_.service_level);
  channel_.emplace(device());
  auto o = port;
  o.pkey_index = settings_.pkey_index;
  o.channel = &*channel_;
  o.payload_bytes = std::min(o.payload_bytes, static_cast<std::size_t>(chosen_.mtu_bytes));
  port_.emplace(device(), domain(), local_, o);
}

void endpoint::refuse_to_join(const group_view& group, const error& why) {
  const error full{why.code(),
                   fmt::format("rank {} of {} on host {} cannot make its communicator: {}", rank_, size_,
                               this_host_name(), why.reason()),
                   {rank_}};
  try {
    static_cast<void>(group.exchange(refusal_card(full)));
  } catch (const error&) {
    // Then the others have failed as well, and know.
  }
  throw full;
}

void endpoint::check_cards(const bootstrap::cards& cards) const {
  if (cards.size() != static_cast<std::size_t>(size_))
    throw error(
        errc::bootstrap_failed,
        fmt::format("the bootstrap's exchange() gave rank {} {} cards of {} ranks: it must give one of "
                    "each rank, in their order",
                    rank_, cards.size(), size_));
  for (int r = 0; r < size_; ++r) {
    if (const auto refusal = read_refusal(cards[static_cast<std::size_t>(r)]))
      throw error(errc::bootstrap_failed, *refusal, {r});
  }
}

void endpoint::exchange_cards(const group_view& group, std::string_view transport) {
  card mine{};
  try {
    mine.version = card::binary_interface;
    mine.qp_number = port_->number();
    mine.address = local_.address;
    mine.nonce = unguessable();
    mine.block_bytes = settings_.block_bytes;
    mine.blocks = settings_.blocks;
    mine.zero_copy_bytes = settings_.zero_copy_bytes;
    mine.connections = settings_.connections;
    mine.tuning = model::tuning_table::of(settings_)->fingerprint();
    mine.mtu = chosen_.mtu_bytes;
    transport.copy(mine.transport, sizeof mine.transport - 1);
    group.composition.copy(mine.composition, sizeof mine.composition - 1);
    mine.composition_hash = hash_text(group.composition);
    chosen_.device.name.copy(mine.device, sizeof mine.device - 1);
    mine.host = this_host();
    mine.cpus = this_process_cpus();
    mine.process = this_process();
    mine.has_service = settings_.service == service_policy::off ? 0 : 1;
  } catch (const error& e) {
    refuse_to_join(group, e);
  }
  const auto cards = group.exchange(std::as_bytes(std::span{&mine, 1}));
  check_cards(cards);
  std::vector<card> all(static_cast<std::size_t>(size_));
  for (int r = 0; r < size_; ++r) {
    const auto& raw = cards.at(static_cast<std::size_t>(r));
    card theirs{};
    if (!read_card(raw, theirs)) {
      throw error(
          errc::bootstrap_failed,
          fmt::format("rank {} sent a card of {} bytes, rank {} expects {}: they use different versions of "
                      "Chorale; rebuild all with one",
                      r, raw.size(), rank_, sizeof theirs),
          {r});
    }
    card_fits(r, theirs, mine);
    job_ = mixed(job_ ^ theirs.nonce);
    addresses_.push_back(theirs.address);
    hosts_.push_back(theirs.host.text());
    peers_->served.push_back(theirs.has_service != 0);
    const bool is_visible = r != rank_ && theirs.host == mine.host && mine.process.pid != 0 &&
                            theirs.process.pid_namespace == mine.process.pid_namespace &&
                            !(theirs.process == mine.process) &&
                            state_of(theirs.process) != process_state::gone;
    peers_->processes.push_back(is_visible ? theirs.process : process_identity{});
    // Everyone begins with those behind it, so that all are watched by somebody.
    if (is_visible) peers_->neighbours.push_back(r);
    port_->add_peer(theirs.address, theirs.qp_number);
    all[static_cast<std::size_t>(r)] = theirs;
  }
  const auto behind = std::upper_bound(peers_->neighbours.begin(), peers_->neighbours.end(), rank_);
  std::rotate(peers_->neighbours.begin(), behind, peers_->neighbours.end());
  // A host is oversubscribed if its ranks, together, may use fewer cores than they are.
  for (const card& first : all) {
    cpu_mask cores{};
    int ranks = 0;
    for (const card& other : all) {
      if (!(other.host == first.host)) continue;
      ++ranks;
      cores.merge(other.cpus);
    }
    oversubscribed_ = oversubscribed_ || ranks > cores.count();
  }
  spin_ =
      settings_.wait == wait_policy::spin || (settings_.wait == wait_policy::automatic && !oversubscribed_);
}

bool endpoint::card_fits(int peer, const card& theirs, const card& mine) const {
  const auto differ = [&](const char* what, const auto& here, const auto& there, const char* remedy) {
    throw error(errc::mismatch,
                fmt::format("{} differs between ranks: {} on rank {}, {} on rank {}; {}", what, here, rank_,
                            there, peer, remedy),
                {rank_, peer});
  };
  if (theirs.version != mine.version)
    differ("the binary interface", mine.version, theirs.version, "rebuild all with one version of Chorale");
  if (std::strcmp(theirs.transport, mine.transport) != 0)
    differ("the transport", mine.transport, theirs.transport, "use one communicator type on all ranks");
  if (theirs.composition_hash != mine.composition_hash)
    differ("the composition of the communicator", fmt::format("'{}'", mine.composition),
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
  const std::string soft = "soft0";
  if ((theirs.device == soft) != (mine.device == soft))
    differ("the kind of device", mine.device, theirs.device, "set CHORALE_DEVICE alike");
  if (mine.device == soft && !(theirs.host == mine.host && theirs.address.lid == mine.address.lid)) {
    throw error(
        errc::unsupported,
        fmt::format("soft0 reaches one host only: rank {} is on {}, rank {} on {} (or in another network "
                    "namespace or CHORALE_SOFT_FABRIC); use an RDMA device, or start all ranks on one host",
                    rank_, mine.host.text(), peer, theirs.host.text()),
        {peer});
  }
  return true;
}

}  // namespace chorale::transport
