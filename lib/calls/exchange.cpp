// SPDX-License-Identifier: Apache-2.0
// The checks of the messages of an exchange.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include <chorale/calls/exchange.hpp>
#include <chorale/core/host_memory.hpp>

namespace chorale::calls {
namespace {

struct stretch {
  const std::byte* begin;
  std::size_t bytes;
  bool is_written;
};

std::string fault_of_message(int ranks, int peer, std::span<const std::byte> bytes) {
  if (peer != nobody && (peer < 0 || peer >= ranks))
    return fmt::format("rank {} is not in 0..{}, nor is it chorale::nobody", peer, ranks - 1);
  if (peer != nobody && bytes.data() == nullptr && !bytes.empty())
    return fmt::format("the buffer of {} bytes to or from rank {} is a null pointer", bytes.size(), peer);
  return {};
}

std::string fault_of_overlap(std::vector<stretch> all) {
  std::sort(all.begin(), all.end(), [](const stretch& a, const stretch& b) { return a.begin < b.begin; });
  const std::byte* read_up_to = nullptr;
  const std::byte* written_up_to = nullptr;
  for (const stretch& s : all) {
    if (s.begin < written_up_to || (s.is_written && s.begin < read_up_to))
      return fmt::format(
          "the buffer of {} bytes at {} overlaps another one of this call, and one of the two is written",
          s.bytes, reinterpret_cast<std::uintptr_t>(s.begin));
    const std::byte*& up_to = s.is_written ? written_up_to : read_up_to;
    up_to = std::max(up_to, s.begin + s.bytes);
  }
  return {};
}

/// Noncontiguous messages are left out: one may lie between the elements of another, as faces of a halo do,
/// and whether they overlap is not checked.
template <class Message>
void add_stretch(std::vector<stretch>& all, const Message& m, bool is_written) {
  if (m.peer != nobody && !m.bytes.empty() && m.where.is_contiguous())
    all.push_back({m.bytes.data(), m.bytes.size(), is_written});
}

/// Up to this many pairs of buffers are compared one by one, which allocates no memory.
constexpr std::size_t few_pairs = 64;

bool is_apart(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.data() + a.size() <= b.data() || b.data() + b.size() <= a.data();
}
/// True if a cheap check finds no fault; false if the full check is needed.
bool is_plain(int ranks, std::span<const outgoing> sends, std::span<const incoming> takes) {
  if ((sends.size() + takes.size()) * takes.size() > few_pairs) return false;
  const auto is_good = [&](int peer, std::span<const std::byte> bytes) {
    return peer == nobody || (peer >= 0 && peer < ranks && bytes.data() != nullptr);
  };
  for (const outgoing& m : sends)
    if (!is_good(m.peer, m.bytes)) return false;
  for (const incoming& m : takes) {
    if (!is_good(m.peer, m.bytes)) return false;
    if (m.peer == nobody) continue;
    for (const outgoing& other : sends)
      if (other.peer != nobody && !is_apart(m.bytes, other.bytes)) return false;
    for (const incoming& other : takes)
      if (&other != &m && other.peer != nobody && !is_apart(m.bytes, other.bytes)) return false;
  }
  return true;
}

std::string fault_of_memory(std::span<const outgoing> sends, std::span<const incoming> takes) {
  const auto fault_of = [](const auto& m, bool is_written) -> std::string {
    if (m.peer == nobody || m.bytes.empty()) return {};
    const auto [first, last] = m.where.range(m.bytes.size());
    const std::span<const std::byte> memory{m.bytes.data() + first, static_cast<std::size_t>(last - first)};
    if (is_written ? detail::can_write(memory) : detail::can_read(memory)) return {};
    return fmt::format("message {} rank {}: {}", is_written ? "from" : "to", m.peer,
                       detail::fault_of_memory(memory, is_written));
  };
  for (const outgoing& m : sends)
    if (auto fault = fault_of(m, false); !fault.empty()) return fault;
  for (const incoming& m : takes)
    if (auto fault = fault_of(m, true); !fault.empty()) return fault;
  return {};
}

/// The full check. Not within `fault_of_messages`, whose frame would grow for every call.
[[gnu::noinline]] std::string searched_fault(int ranks, std::span<const outgoing> sends,
                                             std::span<const incoming> takes, bool looks) {
  std::vector<stretch> all;
  for (const outgoing& m : sends) {
    if (auto fault = fault_of_message(ranks, m.peer, m.bytes); !fault.empty()) return fault;
    add_stretch(all, m, false);
  }
  for (const incoming& m : takes) {
    if (auto fault = fault_of_message(ranks, m.peer, m.bytes); !fault.empty()) return fault;
    add_stretch(all, m, true);
  }
  auto fault = fault_of_overlap(std::move(all));
  return fault.empty() && looks ? fault_of_memory(sends, takes) : fault;
}

}  // namespace

std::string fault_of_strides(std::span<const outgoing> sends, std::span<const incoming> takes) {
  const auto has_strides = [](const auto& m) { return !m.where.is_contiguous(); };
  if (!std::any_of(sends.begin(), sends.end(), has_strides) &&
      !std::any_of(takes.begin(), takes.end(), has_strides))
    return {};
  return "a message has strides, which the algorithm of this communicator does not know (takes_strides): "
         "copy "
         "its elements to contiguous memory";
}

std::string fault_of_messages(int ranks, std::span<const outgoing> sends, std::span<const incoming> takes,
                              bool looks) {
  if (!looks && is_plain(ranks, sends, takes)) [[likely]]
    return {};
  return searched_fault(ranks, sends, takes, looks);
}

}  // namespace chorale::calls
