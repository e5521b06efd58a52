#include "multicast_rank.hpp"

namespace protocols {
namespace {

/// The capacity of the receive queues of real queue pairs.
constexpr std::size_t group_room = 4 * multicast_window;
constexpr std::size_t letter_room = 256;
constexpr clock::duration silence = 2s;

const char* name(std::uint16_t kind) {
  switch (static_cast<multicast_kind>(kind)) {
    case multicast_kind::signal:
      return "signal";
    case multicast_kind::message:
      return "message";
    case multicast_kind::signal_missing:
      return "signal missing";
    case multicast_kind::message_missing:
      return "messages missing";
    case multicast_kind::acknowledgement:
      return "acknowledgement";
    case multicast_kind::question:
      return "question";
    default:
      return "?";
  }
}

/// A datagram in words, for the history.
std::string words(std::uint16_t kind, std::span<const std::byte> body) {
  switch (static_cast<multicast_kind>(kind)) {
    case multicast_kind::signal:
    case multicast_kind::signal_missing:
      if (const auto word = parse<std::uint64_t>(body)) return fmt::format("{} {:x}", name(kind), *word);
      break;
    case multicast_kind::message:
      if (const auto h = parse<message_head>(body.first(std::min(body.size(), sizeof(message_head)))))
        return fmt::format("message {} of call {}, {} bytes", distance(first_multicast, h->sequence), h->call,
                           body.size() - sizeof *h);
      break;
    case multicast_kind::message_missing:
      if (const auto m = parse<missing_messages>(body))
        return fmt::format("missing {}, then here {:b}", distance(first_multicast, m->first), m->here);
      break;
    case multicast_kind::acknowledgement:
      if (const auto s = parse<message_state>(body))
        return fmt::format("released {}, arrived {}, signal {:x}", distance(first_multicast, s->released),
                           distance(first_multicast, s->arrived), s->signal);
      break;
    case multicast_kind::question:
      if (const auto s = parse<sender_state>(body))
        return fmt::format("next is {}, signal {:x}: what have you got?", distance(first_multicast, s->next),
                           s->signal);
      break;
    default:
      break;
  }
  return fmt::format("kind {}, {} bytes", kind, body.size());
}

}  // namespace

multicast_job::multicast_job(virtual_net& n, int size) : net(&n) {
  options.size = size;
}

void multicast_job::keep(int to, const letter& l) {
  if (seen.size() < 64)
    seen.emplace_back(to, l);
  else
    seen[net->below(seen.size())] = {to, l};
}

bytes multicast_job::content(int root, std::uint32_t index) const {
  bytes b((index * 7 + static_cast<std::uint32_t>(root)) % (options.payload_bytes + 1));
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<std::byte>(index + 31 * static_cast<std::uint32_t>(root) + 5 * i);
  return b;
}

multicast_rank::multicast_rank(multicast_job& all, int number)
    : all_(&all),
      number_(number),
      memory_(multicast_sender::places *
              (sizeof(datagram_header) + sizeof(message_head) + all.options.payload_bytes)),
      peers_(static_cast<std::size_t>(all.size())) {}

std::span<std::byte> multicast_rank::place(std::uint32_t index) noexcept {
  const std::size_t size = memory_.size() / multicast_sender::places;
  return std::span{memory_}.subspan(index * size, size);
}

bool multicast_rank::multicast(std::uint32_t index, std::size_t size) {
  auto& net = *all_->net;
  if (net.chance(all_->full)) return false;
  const auto datagram = place(index).first(size);
  const auto sent = std::make_shared<const bytes>(datagram.begin(), datagram.end());
  datagram_header head;
  std::memcpy(&head, sent->data(), sizeof head);
  const auto body = std::span{*sent}.subspan(sizeof head);
  net.note([&] { return fmt::format("{} -> all: {}", number_, words(head.kind, body)); });
  if (head.kind == raw(multicast_kind::message)) {
    message_head message;
    std::memcpy(&message, body.data(), sizeof message);
    const auto index_of = message.sequence - first_multicast;
    for (int r = 0; r < all_->size(); ++r) {
      if (r != number_ && !(*all_)[r].is_dead() && !at(r).gone &&
          index_of >= (*all_)[r].released(number_) + multicast_window)
        wrong(fmt::format("rank {} sends message {} when rank {} has given back {}", number_, index_of, r,
                          (*all_)[r].released(number_)));
    }
  }
  all_->keep(-1, {number_, head.kind, sent});
  ++under_way_[index];
  const bool lost = net.chance(all_->lost_at_once);
  if (lost) net.note([] { return "  lost to all"; });
  net.after(net.between(0us, 20us), [this, index, sent, lost] {
    --under_way_[index];
    if (!std::equal(sent->begin(), sent->end(), place(index).begin()))
      wrong(fmt::format("rank {} has overwritten what was still being sent", number_));
    for (int r = 0; r < all_->size() && !lost; ++r)
      all_->net->send(all_->group_faults, [this, r, sent] { (*all_)[r].hear(sent); });
  });
  return true;
}

bool multicast_rank::send_to(int to, multicast_kind kind, std::span<const std::byte> body, bool solicited) {
  auto& net = *all_->net;
  if (net.chance(all_->full)) return false;
  net.note([&] { return fmt::format("{} -> {}: {}", number_, to, words(raw(kind), body)); });
  const letter l{number_, raw(kind), std::make_shared<const bytes>(body.begin(), body.end())};
  all_->keep(to, l);
  net.send(all_->single_faults, [this, to, l, solicited] { (*all_)[to].hear(l, solicited); });
  return true;
}

bool multicast_rank::is_lost(int peer) const noexcept {
  const auto& p = at(peer);
  return p.gone || (p.asked && all_->net->now() - *p.asked > silence);
}

void multicast_rank::ask_for_life(int peer) {
  auto& p = at(peer);
  if (!p.asked) p.asked = all_->net->now();
  // Outside of the group ranks answer this, too.
  all_->net->send(all_->single_faults, [this, peer] {
    if ((*all_)[peer].is_over()) return;
    all_->net->send(all_->single_faults, [this, peer] { at(peer).asked.reset(); });
  });
}

void multicast_rank::hear(const shared_bytes& datagram) {
  if (!is_member()) return;
  if (from_group_.size() == group_room)
    return all_->net->note([&] { return fmt::format("  no room at {}", number_); });
  from_group_.push_back(datagram);
  look_in(all_->net->between(1us, 20us));
}

void multicast_rank::hear(const letter& l, bool solicited) {
  if (is_over()) return;
  at(l.from).asked.reset();
  if (!protocol_ || letters_.size() == letter_room) return;
  letters_.push_back(l);
  look_in(all_->net->between(1us, 20us));
  // The service thread wakes up while the rank's own thread computes.
  if (solicited && all_->with_service && all_->net->now() < busy_until_)
    all_->net->after(all_->net->between(20us, 500us), [this] {
      if (is_member()) read_letters();
    });
}

void multicast_rank::learn_of_departure(int peer) {
  at(peer).gone = true;
  if (!is_over() && state_ != state::outside) look_in(1us);
}

void multicast_rank::look_in(clock::duration delay) {
  const auto when = std::max(all_->net->now() + delay, busy_until_);
  if (next_look_ && *next_look_ <= when) return;
  next_look_ = when;
  all_->net->after(when - all_->net->now(), [this, when] {
    if (next_look_ != when || is_over()) return;
    next_look_.reset();
    look();
  });
}

void multicast_rank::look() {
  if (state_ == state::outside) {
    state_ = state::calling;
    auto o = all_->options;
    o.rank = number_;
    protocol_.emplace(static_cast<multicast_port&>(*this), o);
    joined_ = all_->net->now();
    all_->net->note([&] { return fmt::format("{} joins", number_); });
  }
  // A waiting rank looks again soon, and less often the longer it waits.
  const auto most = std::max<clock::duration>(all_->options.patience / 2, 1ms);
  bool moved = false;
  while (!is_over() && all_->net->now() >= busy_until_ && advance()) moved = true;
  if (is_over()) return;
  if (all_->net->now() >= busy_until_) progress_all();
  tick_ = moved ? all_->options.patience / 4 : std::min(most, tick_ * 3 / 2 + 10us);
  look_in(all_->net->between(tick_ / 2, tick_));
}

bool multicast_rank::advance() {
  auto& net = *all_->net;
  if (state_ == state::leaving) {
    drain();
    if (protocol_->sender().settle(net.now())) leave();
    return false;
  }
  if (call_ == all_->calls.size()) {
    state_ = state::leaving;
    net.note([&] { return fmt::format("{} has made all calls", number_); });
    return true;
  }
  const auto& call = all_->calls[call_];
  if (!make_step(call)) {
    waits_ += waiting_ ? 0 : 1;
    waiting_ = true;
    return false;
  }
  waiting_ = false;
  if (piece_ != (call.is_signal ? 1 : call.pieces)) return true;
  release_all();
  piece_ = 0;
  ++call_;
  if (net.chance(all_->busy)) {
    busy_until_ = net.now() + net.between(1us, all_->longest_absence);
    net.note([&] { return fmt::format("{} computes", number_); });
  }
  return true;
}

bool multicast_rank::make_step(const multicast_call& call) {
  if (!call.is_signal && call.pieces == 0) return true;
  const bool done = call.root == number_     ? send_piece(call)
                    : at(call.root).given_up ? true
                    : call.is_signal         ? take_signal(call)
                                             : take_piece(call);
  if (done) ++piece_;
  return done;
}

bool multicast_rank::send_piece(const multicast_call& call) {
  drain();
  auto& sender = protocol_->sender();
  if (call.is_signal) return sender.try_signal(call.number, all_->net->now());
  if (!sender.window_is_open()) read_letters();
  if (!sender.try_send(call.number, all_->content(number_, sent_), all_->net->now())) return false;
  ++sent_;
  return true;
}

bool multicast_rank::take_signal(const multicast_call& call) {
  using enum chorale::transport::presence;
  auto& receiver = protocol_->receiver();
  if (receiver.look_for_signal(call.root, call.number) == absent) drain();
  switch (receiver.look_for_signal(call.root, call.number)) {
    case absent:
      receiver.wait_for_signal(call.root, call.number);
      return at(call.root).given_up = at(call.root).gone && (*all_)[call.root].is_dead();
    case of_another_call:
      wrong(fmt::format("rank {} sees a signal of another call", number_));
    case here:
      break;
  }
  receiver.take_signal(receiver.is_timed() ? all_->net->now() : clock::time_point{});
  all_->net->note([&] { return fmt::format("{} has the signal of call {}", number_, call.number.number); });
  return true;
}

bool multicast_rank::take_piece(const multicast_call& call) {
  using enum chorale::transport::presence;
  auto& receiver = protocol_->receiver();
  std::span<const std::byte> message;
  if (receiver.look_for_message(call.root, call.number, message) == absent) drain();
  switch (receiver.look_for_message(call.root, call.number, message)) {
    case absent:
      receiver.wait_for_message(call.root);
      return at(call.root).given_up = at(call.root).gone && (*all_)[call.root].is_dead();
    case of_another_call:
      wrong(fmt::format("rank {} sees a message of another call", number_));
    case here:
      break;
  }
  const auto index = at(call.root).received++;
  const auto expected = all_->content(call.root, index);
  all_->net->note([&] { return fmt::format("{} takes message {} of {}", number_, index, call.root); });
  if (!std::equal(message.begin(), message.end(), expected.begin(), expected.end()))
    wrong(fmt::format("what rank {} takes for message {} of rank {} is something else", number_, index,
                      call.root));
  receiver.take_message(call.root, receiver.is_timed() ? all_->net->now() : clock::time_point{});
  held_.push_back(call.root);
  // Messages are given back in order; at most half a window may be held.
  if (!all_->net->chance(all_->held) || held_.size() >= multicast_window / 2) release_all();
  return true;
}

void multicast_rank::release_all() {
  for (const int root : held_) {
    ++at(root).released;
    protocol_->receiver().release(root);
  }
  held_.clear();
}

void multicast_rank::leave() {
  state_ = state::left;
  auto& net = *all_->net;
  net.note([&] { return fmt::format("{} leaves", number_); });
  const auto longest = net.chance(0.2) ? clock::duration{200ms} : clock::duration{2ms};
  for (int r = 0; r < all_->size(); ++r) {
    if (r != number_)
      net.after(net.between(10us, longest), [this, r] { (*all_)[r].learn_of_departure(number_); });
  }
}

void multicast_rank::drain() {
  while (!from_group_.empty()) {
    const auto datagram = std::move(from_group_.front());
    from_group_.pop_front();
    if (!hears(*protocol_, *datagram)) wrong(fmt::format("rank {} refuses a multicast", number_));
  }
}

void multicast_rank::read_letters() {
  while (!letters_.empty()) {
    const auto l = std::move(letters_.front());
    letters_.pop_front();
    if (l.kind == raw(multicast_kind::question)) drain();
    if (!take(l, false))
      wrong(fmt::format("rank {} refuses what rank {} sent: {}", number_, l.from, words(l.kind, *l.body)));
  }
}

bool multicast_rank::take(const letter& l, bool of_group) {
  if (of_group) return hears(*protocol_, *l.body);
  if (l.kind == raw(multicast_kind::question)) ++questions_;
  return protocol_->on_datagram(l.from, l.kind, *l.body, all_->net->now());
}

void multicast_rank::progress_all() {
  read_letters();
  drain();
  if (protocol_->is_pending()) protocol_->progress(all_->net->now());
}

std::string multicast_rank::where() const {
  if (state_ == state::leaving) return fmt::format("rank {} does not get to leave", number_);
  if (state_ != state::calling) return fmt::format("rank {} is over", number_);
  const auto& call = all_->calls[call_];
  return fmt::format("rank {} is in call {} of root {}, piece {}", number_, call.number.number, call.root,
                     piece_);
}

void multicast_rank::check_costs() const {
  if (!protocol_) return;
  auto& p = const_cast<multicast_protocol&>(*protocol_);
  const std::size_t most =
      multicast_window * all_->options.payload_bytes * static_cast<std::size_t>(all_->size());
  if (p.receiver().memory_bytes() > most)
    wrong(fmt::format("rank {} keeps {} bytes, and {} are a window of each rank", number_,
                      p.receiver().memory_bytes(), most));
  // One NAK where a wait begins, one where it is overtaken, and one in two patiences; two for each question.
  const auto pauses = static_cast<std::uint64_t>((all_->net->now() - joined_) / (2 * all_->options.patience));
  const auto allowed = 2 * (waits_ + questions_) + pauses;
  if (p.statistics().naks_sent > allowed)
    wrong(fmt::format("rank {} has sent {} NAKs, and {} are enough", number_, p.statistics().naks_sent,
                      allowed));
}

}  // namespace protocols
