// How a rank joins its group: what it tells of itself, what it must find at the others, and what it says if
// it cannot.
#include <algorithm>
#include <cstring>
#include <mutex>
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

/// Why two ranks are in different fabrics of soft0.
std::string why_apart(int peer, const rank_card& theirs, int rank, const rank_card& mine) {
  const auto pair = [&](const char* rule, const auto& there, const auto& here, const char* remedy) {
    return fmt::format("soft0 {}: rank {} {}, rank {} {}; {}", rule, peer, there, rank, here, remedy);
  };
  if (!(theirs.host == mine.host))
    return pair("reaches one host only", "is on " + theirs.host.text(), "is on " + mine.host.text(),
                "use an RDMA device, or start all ranks on one host");
  if (theirs.user.id != mine.user.id)
    return pair("connects processes of one user", fmt::format("runs as user {}", theirs.user.id),
                fmt::format("as user {}", mine.user.id), "start all ranks as one user");
  if (theirs.user.name_space != mine.user.name_space ||
      theirs.process.pid_namespace != mine.process.pid_namespace)
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

struct endpoint::card : rank_card {};

const group_view& endpoint::checked(const group_view& group) {
  if (group.size < 1 || group.rank < 0 || group.rank >= group.size)
    throw error(
        errc::bootstrap_failed,
        fmt::format("the bootstrap says that this is rank {} of {}: ranks are 0 to size - 1, of at least "
                    "one; mend its rank() and size()",
                    group.rank, group.size));
  return group;
}

void endpoint::join(const group_view& group, std::string_view transport, const datagram_port::options& port) {
  // Whatever goes wrong here, the others wait for this rank in the exchanges: it takes part and says what.
  std::optional<error> obstacle;
  const auto attempt = [&](const auto& step) {
    if (obstacle) return;
    try {
      step();
    } catch (const error& e) {
      obstacle.emplace(e);
    } catch (const std::system_error& e) {
      obstacle.emplace(set_up_failure(e.code(), reason_of(e)));
    } catch (const std::exception& e) {
      obstacle.emplace(set_up_failure(std::make_error_code(std::errc::not_enough_memory), e.what()));
    }
  };
  // Errors that are about this rank alone do not say which it is.
  const auto by_itself = [&](const auto& step) {
    attempt([&] {
      try {
        step();
      } catch (const error& e) {
        throw set_up_failure(e.code(), e.reason());
      }
    });
  };

  card mine{};
  by_itself([&] {
    launched_ = group.launched();
    job_ = hash_text(group.job());
    detector_ = failure_detector(size_, {settings_.silence, settings_.stall, settings_.deadline});
    open_device(group, port);
    peers_ = std::make_unique<peers_watched>();
    answers_.resize(static_cast<std::size_t>(size_));
    mine = describe_itself(group, transport);
  });
  const auto cards = obstacle ? group.exchange(refusal_card(*obstacle))
                              : present_card(group, std::as_bytes(std::span{&mine, 1}));
  // All ranks see the same cards: all stop here, or none.
  if (std::any_of(cards.begin(), cards.end(), [](const auto& c) { return is_refusal(c); })) {
    if (obstacle) throw *obstacle;
    check_cards(cards);
  }
  attempt([&] {
    check_cards(cards);
    take_cards(cards, mine);
  });
  by_itself([&] { port_->open(static_cast<std::uint32_t>(job_ ^ (job_ >> 32)) & 0x7fffffffU); });
  // The secret was not known before, so the port could not be open before the cards came. What is sent to a
  // port that is not open is lost: nobody begins before all are.
  if (obstacle) {
    static_cast<void>(group.exchange(refusal_card(*obstacle)));
    throw *obstacle;
  }
  check_cards([&] {
    constexpr std::byte open_now{1};
    try {
      return group.exchange({&open_now, 1});
    } catch (...) {
      // Those to whom the exchange has succeeded expect this rank in their calls.
      tell_of_no_start();
      throw;
    }
  }());
}

bootstrap::cards endpoint::present_card(const group_view& group, std::span<const std::byte> mine) const {
  try {
    return group.exchange(mine);
  } catch (const error&) {
    // The bootstrap itself has failed, or one of the others.
    throw;
  } catch (const std::exception& e) {
    // The others may have the card or not; in whichever exchange they are, they get a refusal.
    const auto why = set_up_failure(std::make_error_code(std::errc::not_enough_memory), e.what());
    static_cast<void>(group.exchange(refusal_card(why)));
    throw why;
  }
}

void endpoint::tell_of_no_start() noexcept {
  try {
    note_failure(std::make_exception_ptr(error(
        errc::bootstrap_failed, fmt::format("rank {} could not make its communicator", rank_), {rank_})));
    tell_failure();
    // What has not been sent when the port closes is lost.
    const std::lock_guard hold{lock_};
    port_->drain(std::chrono::milliseconds{500});
  } catch (...) {
    // Then they see its silence.
  }
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

error set_up_failure(int rank, int size, std::error_code code, const std::string& why) {
  return error{code,
               fmt::format("rank {} of {} on host {} cannot make its communicator: {}", rank, size,
                           this_host_name(), why),
               {rank}};
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

endpoint::card endpoint::describe_itself(const group_view& group, std::string_view transport) const {
  card mine{};
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
  const std::string composition = group.composition();
  composition.copy(mine.composition, sizeof mine.composition - 1);
  mine.composition_hash = hash_text(composition);
  chosen_.device.name.copy(mine.device, sizeof mine.device - 1);
  mine.host = this_host();
  mine.cpus = this_process_cpus();
  mine.process = this_process();
  mine.user = this_user();
  mine.has_service = settings_.service == service_policy::off ? 0 : 1;

  return mine;
}

void endpoint::take_cards(const bootstrap::cards& cards, const card& mine) {
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
  const std::string soft = "soft0";
  if ((theirs.device == soft) != (mine.device == soft))
    differ("the kind of device", printable(mine.device), printable(theirs.device),
           "set CHORALE_DEVICE alike");
  if (mine.device == soft && !(theirs.host == mine.host && theirs.address.lid == mine.address.lid &&
                               std::memcmp(theirs.address.gid.raw, mine.address.gid.raw, 16) == 0))
    throw error(errc::unsupported, why_apart(peer, theirs, rank_, mine), {peer});
  return true;
}

}  // namespace chorale::transport
