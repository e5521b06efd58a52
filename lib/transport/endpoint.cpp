// An endpoint's life: cards, datagrams of the control kinds, progress.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/printable.hpp>
#include <chorale/model/tuning.hpp>
#include <chorale/transport/endpoint.hpp>
#include <chorale/transport/reliable/streams.hpp>

#include "host.hpp"
#include "messages.hpp"
#include "mixing.hpp"
#include "multicast_messages.hpp"

namespace chorale::transport {
namespace {

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h;
}

/// How often is said what nobody answers: where a datagram in ten is lost, one rank in 100,000 does not hear
/// it.
constexpr int repetitions = 5;

/// Datagrams that wait for the rank's own thread; more than these are lost, as they may be anywhere.
constexpr std::size_t most_kept = 256;

bool is_served(std::uint16_t kind) noexcept {
  return kind >= static_cast<std::uint16_t>(datagram_kind::first_served);
}

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

endpoint::endpoint(const group_view& group, const config& settings, std::string_view transport,
                   const datagram_port::options& port)
    : rank_(group.rank),
      size_(group.size),
      settings_(settings),
      launched_(group.launched),
      job_(hash_text(group.job)) {
  if (group.headers != binary_interface()) {
    throw error(errc::unsupported,
                "this program was compiled with headers that do not belong to the libchorale it runs with; "
                "rebuild it, or look which library the loader finds (ldd)");
  }
  use_.set_rank(rank_);
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
  departed_.assign(static_cast<std::size_t>(size_), false);
  answers_.resize(static_cast<std::size_t>(size_));
  exchange_cards(group, transport);
  port_->open(static_cast<std::uint32_t>(job_ ^ (job_ >> 32)) & 0x7fffffffU);
  // The secret was not known before, so the port could not be open before the cards came. What is sent to a
  // port that is not open is lost: nobody begins before all are.
  const std::byte open_now{1};
  static_cast<void>(group.exchange({&open_now, 1}));
}

endpoint::~endpoint() = default;

std::size_t endpoint::next_state_index() noexcept {
  static std::atomic<std::size_t> next{0};
  return next.fetch_add(1);
}

void endpoint::exchange_cards(const group_view& group, std::string_view transport) {
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
  group.composition.copy(mine.composition, sizeof mine.composition - 1);
  mine.composition_hash = hash_text(group.composition);
  chosen_.device.name.copy(mine.device, sizeof mine.device - 1);
  mine.host = this_host();
  mine.cpus = this_process_cpus();

  const auto cards = group.exchange(std::as_bytes(std::span{&mine, 1}));
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
    port_->add_peer(theirs.address, theirs.qp_number);
    all[static_cast<std::size_t>(r)] = theirs;
  }
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

bool endpoint::send_datagram(int to, std::uint16_t kind, std::span<const std::byte> body,
                             std::span<const std::byte> more, bool solicited) {
  const datagram_header head{datagram_header::expected_magic,
                             kind,
                             0,
                             job_,
                             rank_,
                             static_cast<std::uint32_t>(body.size() + more.size())};
  const std::lock_guard hold{lock_};
  return port_->send(to, {std::as_bytes(std::span{&head, 1}), body, more}, solicited);
}

void endpoint::insist_on_datagram(int to, std::uint16_t kind, std::span<const std::byte> body) {
  const auto give_up = steady::now() + std::chrono::milliseconds{100};
  while (!send_datagram(to, kind, body) && steady::now() < give_up) sched_yield();
}

void endpoint::broadcast_datagram(std::uint16_t kind,
                                  const std::function<std::span<const std::byte>(int to)>& body) {
  const auto patient_until = steady::now() + std::chrono::seconds{1};
  for (int i = 0; i < repetitions; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    for (int r = 0; r < size_; ++r) {
      if (r == rank_ || departed(r)) continue;
      try {
        if (steady::now() < patient_until)
          insist_on_datagram(r, kind, body(r));
        else
          send_datagram(r, kind, body(r));
      } catch (const error&) {
        // One that cannot be reached must not keep the others from hearing it.
      }
    }
  }
}

void endpoint::take_datagram(std::span<const std::byte> datagram) {
  // Anything that is not from this job is none of our business.
  const auto read = read_datagram(datagram, job_, size_);
  if (!read) return refuse_datagram();
  const auto [from, kind, body] = *read;
  switch (static_cast<datagram_kind>(kind)) {
    case datagram_kind::question: {
      std::uint64_t number = 0;
      if (body.size() != sizeof number) return;
      std::memcpy(&number, body.data(), sizeof number);
      const status_answer mine{status_, number};
      send_datagram(from, static_cast<std::uint16_t>(datagram_kind::answer),
                    std::as_bytes(std::span{&mine, 1}));
      return;
    }
    case datagram_kind::answer: {
      if (const auto theirs = read_answer(body)) answers_[static_cast<std::size_t>(from)] = *theirs;
      return;
    }
    case datagram_kind::notice:
      take_notice(from, body);
      return;
    case datagram_kind::goodbye:
      note_departure(from);
      on_goodbye(from, body);
      return;
    default:
      if (is_served(kind))
        take_served(from, kind, body);
      else
        on_datagram(from, kind, body);
      return;
  }
}

void endpoint::take_served(int from, std::uint16_t kind, std::span<const std::byte> body) {
  if (is_multicast_kind(kind)) {
    // Who is not in the group yet has nothing to tell: it will ask for what it misses.
    if (multicast_) multicast_->take(from, kind, body);
  } else if (streams_ != nullptr) {
    streams_->on_datagram(from, kind, body);
  } else {
    refuse_datagram();
  }
}

std::size_t endpoint::datagram_room() const noexcept {
  return port_->payload_bytes() - sizeof(datagram_header);
}

void endpoint::read_datagrams() {
  const std::lock_guard hold{lock_};
  if (service_failure_) std::rethrow_exception(service_failure_);
  for (const auto& d : std::exchange(kept_datagrams_, {})) take_datagram(d);
  port_->poll([this](std::span<const std::byte> d) { take_datagram(d); });
}

void endpoint::start_service() {
  if (service_ || settings_.service == service_policy::off) return;
  lock_.share();
  service_.emplace(*channel_, lock_, settings_.service,
                   service::work{[this] { port_->arm(); }, [this] { serve(); },
                                 [this](std::exception_ptr why) { service_failure_ = std::move(why); }});
}

void endpoint::serve() noexcept {
  try {
    port_->poll([this](std::span<const std::byte> d) { keep_datagram(d); });
    if (streams_ != nullptr) streams_->progress();
  } catch (...) {
    service_failure_ = std::current_exception();
  }
}

void endpoint::keep_datagram(std::span<const std::byte> datagram) {
  const auto read = read_datagram(datagram, job_, size_);
  if (!read) return refuse_datagram();
  if (is_served(read->kind))
    take_served(read->source, read->kind, read->body);
  else if (kept_datagrams_.size() < most_kept)
    kept_datagrams_.emplace_back(datagram.begin(), datagram.end());
}

void endpoint::progress() {
  read_datagrams();
  if (multicast_) multicast_->progress();
  on_progress();
}

epoch endpoint::current() const noexcept {
  const call* c = status_.find(number_);
  return {number_, c == nullptr ? 0 : c->signature(), c == nullptr ? operation::none : c->what};
}

void endpoint::say_goodbye() noexcept {
  settle_multicasts();
  try {
    broadcast_datagram(static_cast<std::uint16_t>(datagram_kind::goodbye),
                       [this](int to) { return last_words(to); });
    const std::lock_guard hold{lock_};
    port_->drain(std::chrono::milliseconds{500});
  } catch (...) {
    // A farewell that cannot be sent changes nothing: the peers then see silence.
  }
  stop_service();
}

void endpoint::advance(bool wait_for_it) {
  const auto frame = parked_.frame;
  if (!frame) return;
  try {
    const auto ready = [this] { return parked_.ready(parked_.awaiter); };
    if (wait_for_it) {
      wait(parked_.watch->peer(), parked_.watch->now(), ready);
    } else if (!ready()) {
      parked_.watch->look(false);
      return;
    }
  } catch (...) {
    parked_.failure = std::current_exception();
    let_go();
  }
  parked_.frame = {};
  frame.resume();
}

}  // namespace chorale::transport
