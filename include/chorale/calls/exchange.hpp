// exchange, send_receive and their nonblocking forms.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/algorithm/exchange/direct.hpp>
#include <chorale/calls/caller.hpp>
#include <chorale/core/neighbours.hpp>

namespace chorale {

/// A message for `communicator::exchange`: `data`, a range or a value, to rank `peer`, or to `nobody`.
/// `data` is read until the call is over.
template <class Data>
[[nodiscard]] outgoing to(calls::rank_number peer, const Data& data) {
  const calls::input in = calls::read(data);
  return {peer.value, in.bytes, in.type};
}
/// Where a message of rank `peer` goes, which fills it; or, from `nobody`, stays as it is.
template <class Data>
[[nodiscard]] incoming from(calls::rank_number peer, Data&& data) {
  const calls::output out = calls::written<Data>(data);
  return {peer.value, out.bytes, out.type};
}

}  // namespace chorale

namespace chorale::calls {

/// A list of messages: braces, or any contiguous range of them.
template <class Message>
struct messages {
  std::span<const Message> list;
  messages(std::initializer_list<Message> l) : list(l.begin(), l.size()) {}
  template <class R>
  requires std::convertible_to<const R&, std::span<const Message>>
  messages(const R& r) : list(r) {}  // implicit: it stands for any range of messages
};

/// Refuses messages of ranks that are not there, and memory that is written twice, or read and written.
template <class Caller>
void check_messages(const Caller& on, std::span<const outgoing> sends, std::span<const incoming> takes) {
  struct stretch {
    const std::byte* begin;
    std::size_t bytes;
    bool is_written;
  };
  std::vector<stretch> all;
  const auto check = [&on](int peer, std::span<const std::byte> bytes) {
    if (peer != nobody && (peer < 0 || peer >= on.size()))
      on.reject("exchange", "rank " + std::to_string(peer) + " is not in 0.." +
                                std::to_string(on.size() - 1) + ", nor is it chorale::nobody");
    if (peer != nobody && bytes.data() == nullptr && !bytes.empty())
      on.reject("exchange", "a null pointer stands for the buffer of " + std::to_string(bytes.size()) +
                                " bytes to or from rank " + std::to_string(peer));
  };
  for (const outgoing& m : sends) {
    check(m.peer, m.bytes);
    if (m.peer != nobody && !m.bytes.empty()) all.push_back({m.bytes.data(), m.bytes.size(), false});
  }
  for (const incoming& m : takes) {
    check(m.peer, m.bytes);
    if (m.peer != nobody && !m.bytes.empty()) all.push_back({m.bytes.data(), m.bytes.size(), true});
  }
  std::sort(all.begin(), all.end(), [](const stretch& a, const stretch& b) { return a.begin < b.begin; });
  const std::byte* read_up_to = nullptr;
  const std::byte* written_up_to = nullptr;
  for (const stretch& s : all) {
    if (s.begin < written_up_to || (s.is_written && s.begin < read_up_to))
      on.reject("exchange", "the buffer of " + std::to_string(s.bytes) + " bytes at " +
                                std::to_string(reinterpret_cast<std::uintptr_t>(s.begin)) +
                                " overlaps another one of this call, and one of the two is written");
    const std::byte*& up_to = s.is_written ? written_up_to : read_up_to;
    up_to = std::max(up_to, s.begin + s.bytes);
  }
}

template <class Caller>
auto exchange(Caller& on, std::span<const outgoing> sends, std::span<const incoming> takes) {
  check_messages(on, sends, takes);
  return prepared{call{.what = operation::exchange},
                  [&on, out = std::vector<outgoing>(sends.begin(), sends.end()),
                   in = std::vector<incoming>(takes.begin(), takes.end())](epoch now) {
                    return launch<algorithm_of<operation::exchange, Caller>>(on.net(), now, out, in);
                  }};
}

}  // namespace chorale::calls
