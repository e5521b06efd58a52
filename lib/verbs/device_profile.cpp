// SPDX-License-Identifier: Apache-2.0
#include "device_profile.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <utility>

namespace chorale::verbs {
namespace {

using reader = bool (*)(device_profile&, std::string_view);

/// `also`: reads a further value of a list; nullptr if the key takes one value.
struct profile_key {
  std::string_view name;
  std::string_view accepts;
  reader set;
  reader also = nullptr;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const auto begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

/// Splits at any of `marks`.
std::vector<std::string_view> parts_of(std::string_view text, std::string_view marks) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto mark = text.find_first_of(marks);
    parts.push_back(trimmed(text.substr(0, mark)));
    if (mark == std::string_view::npos) return parts;
    text.remove_prefix(mark + 1);
  }
}

template <class Number>
bool read_whole(std::string_view text, Number& value, Number most, int base = 10) {
  Number read{};
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, read, base);
  if (status != std::errc{} || stop != end || read > most) return false;
  value = read;
  return true;
}

/// A number of bytes: 64, 4K, 16M, 1G.
bool read_bytes(std::string_view text, std::uint64_t& bytes) {
  unsigned shift = 0;
  if (!text.empty() && (text.back() == 'K' || text.back() == 'M' || text.back() == 'G')) {
    shift = text.back() == 'K' ? 10 : text.back() == 'M' ? 20 : 30;
    text.remove_suffix(1);
  }
  std::uint64_t read = 0;
  if (!read_whole(text, read, std::numeric_limits<std::uint64_t>::max() >> shift)) return false;
  bytes = read << shift;
  return true;
}

template <auto Field, std::uint32_t Least = 0, std::uint32_t Most = device_profile::as_it_is - 1>
bool read_count(device_profile& p, std::string_view text) {
  std::uint32_t value = 0;
  if (!read_whole(text, value, Most) || value < Least) return false;
  p.*Field = value;
  return true;
}

/// Sets `field` to the value of the row with `text`; false if there is none.
template <class Value, std::size_t Count, class Field>
bool read_word(const std::array<std::pair<std::string_view, Value>, Count>& words, std::string_view text,
               Field& field) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const auto& w) { return w.first == text; });
  if (found == words.end()) return false;
  field = found->second;
  return true;
}

template <class Value, std::size_t Count>
using words = std::array<std::pair<std::string_view, Value>, Count>;
constexpr words<bool, 2> yes_or_no{{{"yes", true}, {"no", false}}};
constexpr words<placement_order, 3> placements{{{"ordered", placement_order::ordered},
                                                {"within-request", placement_order::within_request},
                                                {"unordered", placement_order::unordered}}};
constexpr words<order_answer, 3> answers{
    {{"yes", order_answer::whole}, {"no", order_answer::none}, {"aligned", order_answer::aligned_128}}};
constexpr words<ibv_atomic_cap, 3> atomic_kinds{
    {{"none", IBV_ATOMIC_NONE}, {"hca", IBV_ATOMIC_HCA}, {"global", IBV_ATOMIC_GLOB}}};
constexpr words<ibv_mtu, 5> mtus{{{"256", IBV_MTU_256},
                                  {"512", IBV_MTU_512},
                                  {"1024", IBV_MTU_1024},
                                  {"2048", IBV_MTU_2048},
                                  {"4096", IBV_MTU_4096}}};
constexpr words<bool, 2> links{{{"infiniband", false}, {"ethernet", true}}};
constexpr words<std::uint64_t, 3> gid_types{{{"ib", 0}, {"v1", 1}, {"v2", 2}}};
/// Gb/s as width and speed of ibv_port_attr.
constexpr words<std::pair<int, int>, 10> speeds{{{"10", {2, 1}},
                                                 {"20", {2, 2}},
                                                 {"25", {1, 32}},
                                                 {"40", {2, 4}},
                                                 {"50", {1, 64}},
                                                 {"56", {2, 16}},
                                                 {"100", {2, 32}},
                                                 {"200", {2, 64}},
                                                 {"400", {2, 128}},
                                                 {"2.5", {1, 1}}}};
constexpr words<ibv_event_type, 8> event_names{{{"fatal", IBV_EVENT_DEVICE_FATAL},
                                                {"port_down", IBV_EVENT_PORT_ERR},
                                                {"port_up", IBV_EVENT_PORT_ACTIVE},
                                                {"lid_change", IBV_EVENT_LID_CHANGE},
                                                {"gid_change", IBV_EVENT_GID_CHANGE},
                                                {"pkey_change", IBV_EVENT_PKEY_CHANGE},
                                                {"sm_change", IBV_EVENT_SM_CHANGE},
                                                {"reregister", IBV_EVENT_CLIENT_REREGISTER}}};

bool read_address(std::string_view text, ibv_gid& gid) {
  const std::string address{text};
  if (inet_pton(AF_INET6, address.c_str(), gid.raw) == 1) return true;
  in_addr four{};
  if (inet_pton(AF_INET, address.c_str(), &four) != 1) return false;
  std::memset(gid.raw, 0, sizeof gid.raw);
  gid.raw[10] = gid.raw[11] = 0xff;
  std::memcpy(gid.raw + 12, &four, sizeof four);
  return true;
}

bool add_pkey(device_profile& p, std::string_view text) {
  std::uint16_t key = 0;
  if (!read_whole<std::uint16_t>(text, key, 0xffff, 16)) return false;
  p.pkeys.push_back(key);
  return true;
}

bool add_gid(device_profile& p, std::string_view text) {
  const auto slash = text.find('/');
  profile_gid row;
  if (slash == std::string_view::npos || !read_word(gid_types, text.substr(0, slash), row.type) ||
      !read_address(text.substr(slash + 1), row.gid) || p.gids.size() == most_profile_gids)
    return false;
  p.gids.push_back(row);
  return true;
}

bool add_refusal(device_profile& p, std::string_view text) {
  if (text == "files") {
    p.refuses_files = true;
    return true;
  }
  const auto dash = text.find('-');
  address_range range;
  constexpr auto any = std::numeric_limits<std::uint64_t>::max();
  if (dash == std::string_view::npos || !read_whole(text.substr(0, dash), range.begin, any, 16) ||
      !read_whole(text.substr(dash + 1), range.end, any, 16) || range.end <= range.begin)
    return false;
  p.refused_ranges.push_back(range);
  return true;
}

bool add_event(device_profile& p, std::string_view text) {
  const auto sign = text.find('@');
  profile_event event;
  std::uint32_t after = 0;
  if (sign == std::string_view::npos || !read_word(event_names, text.substr(0, sign), event.what) ||
      !read_whole(text.substr(sign + 1), after, 86'400'000U))
    return false;
  event.after = std::chrono::milliseconds{after};
  const auto later = std::upper_bound(p.events.begin(), p.events.end(), event,
                                      [](const auto& a, const auto& b) { return a.after < b.after; });
  p.events.insert(later, event);
  return true;
}

template <auto List, reader Add>
bool new_list(device_profile& p, std::string_view text) {
  (p.*List).clear();
  return Add(p, text);
}

constexpr profile_key keys[] = {
    {"placement", "ordered, within-request or unordered",
     [](device_profile& p, std::string_view t) {
       placement_order order{};
       if (!read_word(placements, t, order)) return false;
       p.placement = order;
       return true;
     }},
    {"in_order", "yes, no or aligned",
     [](device_profile& p, std::string_view t) {
       order_answer answer{};
       if (!read_word(answers, t, answer)) return false;
       p.in_order = answer;
       return true;
     }},
    {"srq", "a number of shared receive queues", read_count<&device_profile::shared_receive_queues>},
    {"ud", "yes or no",
     [](device_profile& p, std::string_view t) { return read_word(yes_or_no, t, p.datagrams); }},
    {"inline", "bytes, 0 to 16384", read_count<&device_profile::inline_bytes, 0, 16384>},
    {"inline_over", "refused or granted",
     [](device_profile& p, std::string_view t) {
       constexpr words<bool, 2> ways{{{"refused", false}, {"granted", true}}};
       return read_word(ways, t, p.grants_less_inline);
     }},
    {"grh", "required or optional",
     [](device_profile& p, std::string_view t) {
       constexpr words<bool, 2> ways{{{"required", true}, {"optional", false}}};
       return read_word(ways, t, p.needs_global_route);
     }},
    {"atomics", "none, hca or global",
     [](device_profile& p, std::string_view t) { return read_word(atomic_kinds, t, p.atomics); }},
    {"rd_atomic", "0 to 255", read_count<&device_profile::rd_atomic, 0, 255>},
    {"sge", "1 and up", read_count<&device_profile::sges, 1>},
    {"depth", "1 and up", read_count<&device_profile::depth, 1>},
    {"cqe", "1 and up", read_count<&device_profile::completions, 1>},
    {"queue_pairs", "1 and up", read_count<&device_profile::queue_pairs, 1>},
    {"address_handles", "1 and up", read_count<&device_profile::address_handles, 1>},
    {"multicast", "a number of groups", read_count<&device_profile::multicast_groups>},
    {"mtu", "256, 512, 1024, 2048 or 4096",
     [](device_profile& p, std::string_view t) { return read_word(mtus, t, p.mtu); }},
    {"max_message", "bytes, 4096 and up",
     [](device_profile& p, std::string_view t) {
       return read_bytes(t, p.max_message) && p.max_message >= 4096;
     }},
    {"pkeys", "keys of four hexadecimal digits, as 7fff,8006", new_list<&device_profile::pkeys, add_pkey>,
     add_pkey},
    {"gids", "at most 16 rows, as v2/10.0.0.1,v1/fe80::1 or ib/fe80::1",
     new_list<&device_profile::gids, add_gid>, add_gid},
    {"subnet", "a prefix, as fe80::",
     [](device_profile& p, std::string_view t) {
       ibv_gid prefix{};
       if (!read_address(t, prefix) || prefix.global.interface_id != 0) return false;
       p.subnet = be64toh(prefix.global.subnet_prefix);
       return true;
     }},
    {"fabric", "a number", read_count<&device_profile::fabric>},
    {"link", "infiniband or ethernet",
     [](device_profile& p, std::string_view t) { return read_word(links, t, p.ethernet); }},
    {"speed", "Gb/s: 2.5, 10, 20, 25, 40, 50, 56, 100, 200 or 400",
     [](device_profile& p, std::string_view t) {
       std::pair<int, int> both{};
       if (!read_word(speeds, t, both)) return false;
       p.width = static_cast<std::uint8_t>(both.first);
       p.speed = static_cast<std::uint8_t>(both.second);
       return true;
     }},
    {"refuse_registration", "'files', or ranges of hexadecimal addresses, as 7f0000000000-7f0000100000",
     [](device_profile& p, std::string_view t) {
       p.refuses_files = false;
       p.refused_ranges.clear();
       return add_refusal(p, t);
     },
     add_refusal},
    {"locked", "bytes, as 64K",
     [](device_profile& p, std::string_view t) { return read_bytes(t, p.lockable); }},
    {"events",
     "events, each with its milliseconds after opening, as port_down@500,port_up@900; or fatal, lid_change, "
     "gid_change, pkey_change, sm_change, reregister",
     new_list<&device_profile::events, add_event>, add_event},
};

std::string quoted(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, 80)) shown += c >= ' ' && c <= '~' ? c : '?';
  return "'" + shown + "'";
}

std::string all_names(auto&& list) {
  std::string names;
  for (const auto& one : list) names += (names.empty() ? "" : ", ") + std::string{one.name};
  return names;
}

std::string no_value(const profile_key& key, std::string_view text) {
  return quoted(text) + " is no value of '" + std::string{key.name} + "', which accepts " +
         std::string{key.accepts};
}

/// `nested`: number of shipped profiles that enclose `text`; each may begin with the name of another one.
std::string read_items(std::string_view text, int nested, device_profile& profile);

/// '#' begins a comment.
std::string without_comments(std::string_view text) {
  std::string kept;
  for (const std::string_view line : parts_of(text, "\n")) {
    kept += line.substr(0, line.find('#'));
    kept += '\n';
  }
  return kept;
}

std::string read_shipped(std::string_view name, int nested, device_profile& profile) {
  constexpr int most_nested = 4;
  const auto all = shipped_profiles();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  if (found == all.end() || nested == most_nested)
    return "there is no profile " + quoted(name) + "; there are: " + all_names(all);
  return read_items(without_comments(found->text), nested + 1, profile);
}

std::string read_items(std::string_view text, int nested, device_profile& profile) {
  const profile_key* list = nullptr;  // the key whose list the next item may continue
  bool first = true;
  for (const std::string_view item : parts_of(text, ",\n")) {
    if (item.empty()) continue;
    const bool may_be_name = std::exchange(first, false);
    const auto sign = item.find('=');
    if (sign != std::string_view::npos) {
      const std::string_view name = trimmed(item.substr(0, sign));
      const std::string_view value = trimmed(item.substr(sign + 1));
      const auto* const key = std::find_if(std::begin(keys), std::end(keys),
                                           [&](const profile_key& k) { return k.name == name; });
      if (key == std::end(keys)) return "there is no key " + quoted(name) + "; there are: " + all_names(keys);
      if (!key->set(profile, value)) return no_value(*key, value);
      list = key->also == nullptr ? nullptr : key;
    } else if (may_be_name) {
      if (std::string wrong = read_shipped(item, nested, profile); !wrong.empty()) return wrong;
    } else if (list == nullptr) {
      return quoted(item) + " is no key=value";
    } else if (!list->also(profile, item)) {
      return no_value(*list, item);
    }
  }
  return {};
}

}  // namespace

std::string read_profiles(std::string_view text, std::vector<device_profile>& profiles) {
  const std::string clean = without_comments(text);
  std::vector<device_profile> all;
  for (const std::string_view one : parts_of(clean, ";")) {
    device_profile& profile = all.emplace_back();
    if (std::string wrong = read_items(one, 0, profile); !wrong.empty()) return wrong;
    if (profile.ethernet && profile.gids.empty())
      return "a port on Ethernet has GIDs of RoCE only: add gids=v2/ADDRESS to " + quoted(one);
  }
  profiles = std::move(all);
  return {};
}

std::string read_profile(std::string_view text, std::uint64_t rank, device_profile& profile) {
  std::vector<device_profile> all;
  std::string wrong = read_profiles(text, all);
  if (wrong.empty()) profile = std::move(all[rank % all.size()]);
  return wrong;
}

}  // namespace chorale::verbs
