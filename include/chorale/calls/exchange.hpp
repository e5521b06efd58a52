// SPDX-License-Identifier: Apache-2.0
// exchange and its nonblocking form.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/calls/caller.hpp>
#include <chorale/calls/rank_arguments.hpp>
#include <chorale/core/neighbours.hpp>

namespace chorale {

/// A message for `communicator::exchange`: `data`, a range, a variable or an operand with strides, to rank
/// `peer`; `nobody` sends nothing. `data` is read until the call is over, and must not be a temporary, since
/// a list of messages may be kept.
template <class Data>
[[nodiscard]] outgoing to(calls::peer_argument peer, Data&& data) {
  static_assert(calls::argument::lasts<Data>,
                "chorale: a message is read until its exchange is over, and this one is a temporary: keep it "
                "in a variable");
  outgoing made{.peer = peer.value, .bytes = {}};
  const calls::input in = calls::read_spread(data, made.where);
  made.bytes = in.bytes;
  made.type = in.type;
  return made;
}
/// The buffer for a message from rank `peer`, whose size must be that of the buffer; `nobody` leaves it
/// unchanged.
template <class Data>
[[nodiscard]] incoming from(calls::peer_argument peer, Data&& data) {
  incoming made{.peer = peer.value, .bytes = {}};
  const calls::output out = calls::written_spread<Data>(data, made.where);
  made.bytes = out.bytes;
  made.type = out.type;
  return made;
}

}  // namespace chorale

namespace chorale::calls {

/// A list of messages: a braced list or any contiguous range.
template <class Message>
struct messages {
  std::span<const Message> list;
  messages(std::initializer_list<Message> l) : list(l.begin(), l.size()) {}
  template <class Range>
  requires std::convertible_to<const Range&, std::span<const Message>>
  messages(const Range& r) : list(r) {}  // implicit, to accept any range of messages
};

/// Describes the fault in the messages of a rank: a peer outside 0..`ranks`-1, a null pointer, memory that is
/// written twice or both read and written, or, if `looks`, memory that this process cannot use. Empty if
/// there is none.
[[nodiscard]] std::string fault_of_messages(int ranks, std::span<const outgoing> sends,
                                            std::span<const incoming> takes, bool looks = false);

/// Describes the fault of messages with strides, for an algorithm that does not support them; empty if no
/// message has strides.
[[nodiscard]] std::string fault_of_strides(std::span<const outgoing> sends, std::span<const incoming> takes);

/// Whether the messages of an algorithm may have strides. The library's may.
template <class Algorithm>
inline constexpr bool takes_strides = std::same_as<Algorithm, exchange::direct>;
template <class Algorithm>
requires(!std::same_as<Algorithm, exchange::direct> && requires { Algorithm::takes_strides; })
inline constexpr bool takes_strides<Algorithm> = Algorithm::takes_strides;

/// The call. The lists must stay valid until it is over.
template <class Caller>
auto exchange(Caller& on, std::span<const outgoing> sends, std::span<const incoming> takes) {
  calls::or_fail(on.transport(), [&] {
    std::string fault = calls::fault_of_messages(on.size(), sends, takes, on.arguments().looks());
    if constexpr (!takes_strides<algorithm_of<operation::exchange, Caller>>)
      if (fault.empty()) fault = calls::fault_of_strides(sends, takes);
    if (!fault.empty()) on.arguments().reject(name(operation::exchange), fault);
  });
  return prepared{call{.what = operation::exchange}, [&on, sends, takes](call_id now) {
                    return calls::serve<operation::exchange>(on, now, sends, takes);
                  }};
}

/// Copies of the lists of a call.
struct kept_messages {
  std::vector<outgoing> sends;
  std::vector<incoming> takes;
};

template <class Caller>
kept_messages kept(Caller& on, std::span<const outgoing> sends, std::span<const incoming> takes) {
  return calls::or_fail(on.transport(), [&] {
    return kept_messages{{sends.begin(), sends.end()}, {takes.begin(), takes.end()}};
  });
}

/// Runs the algorithm on lists that the coroutine owns.
template <class Algorithm, class Net>
task<> run_exchange_of(Net& net, call_id now, kept_messages lists) {
  const std::span<const outgoing> out{lists.sends};
  const std::span<const incoming> in{lists.takes};
  co_await calls::launch<operation::exchange, Algorithm>(net, now, out, in);
}
/// The call with copies of the lists; each start copies them again.
template <class Caller>
auto lasting_exchange(Caller& on, std::span<const outgoing> sends, std::span<const incoming> takes) {
  const call what = calls::exchange(on, sends, takes).what;
  return prepared{what, [&on, lists = calls::kept(on, sends, takes)](call_id now) {
                    return calls::run_exchange_of<algorithm_of<operation::exchange, Caller>>(on.net(), now,
                                                                                             lists);
                  }};
}
/// The call with copies of the lists, which must not move while a start of the plan is under way.
template <class Caller>
auto planned_exchange(Caller& on, std::span<const outgoing> sends, std::span<const incoming> takes) {
  const call what = calls::exchange(on, sends, takes).what;
  return prepared{what, [&on, lists = calls::kept(on, sends, takes)](call_id now) {
                    return calls::serve<operation::exchange>(on, now, std::span<const outgoing>{lists.sends},
                                                             std::span<const incoming>{lists.takes});
                  }};
}

}  // namespace chorale::calls
