// SPDX-License-Identifier: Apache-2.0
#include "tcp_id.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include <chorale/core/error.hpp>
#include <chorale/core/uncancellable.hpp>

#include "../core/over_forks.hpp"
#include "tcp_channel.hpp"

namespace chorale::bootstrap {
namespace {

struct made_id {
  detail::process_fd listener{};  ///< none once a rank has taken it
  bool is_over = false;           ///< the group has been made, or has failed
};

/// The ids that this process has made, by their secrets.
struct made_ids {
  std::mutex mutex{};
  std::map<std::array<std::byte, 16>, made_id> all{};
};

[[gnu::constructor]] void renew_made_ids_in_children() {
  detail::of_process<made_ids>::handle_forks();
}

}  // namespace

tcp_id tcp_id::make(const std::string& host) {
  detail::require_same_layouts();
  const detail::uncancellable ends_first;
  tcp_id_contents contents;
  contents.secret = drawn_nonce();
  detail::process_fd listener = listen_at({host, 0});
  contents.port = port_of(listener.get());
  if (host.empty()) {
    const auto found = addresses_of_this_host(tcp_id_contents::most_addresses);
    std::ranges::copy(found, contents.raw.begin());
    contents.addresses = static_cast<std::uint16_t>(found.size());
  } else {
    const tcp_resolution found = resolve({host, contents.port});
    if (found.addresses.empty()) throw error(errc::invalid_argument, "bootstrap::tcp_id: " + found.why);
    for (const tcp_address& one : found.addresses)
      if (contents.addresses < tcp_id_contents::most_addresses)
        contents.raw[contents.addresses++] = one.raw();
  }
  made_ids& made = detail::of_process<made_ids>::get();
  const std::lock_guard lock{made.mutex};
  made.all.emplace(contents.secret, made_id{std::move(listener)});
  tcp_id id;
  std::memcpy(id.bytes.data(), &contents, sizeof contents);
  return id;
}

tcp_id_contents tcp_id_contents::of(const tcp_id& id) {
  tcp_id_contents contents;
  std::memcpy(static_cast<void*>(&contents), id.bytes.data(), sizeof contents);
  if (contents.magic != known_magic || contents.addresses == 0 || contents.addresses > most_addresses ||
      contents.port == 0)
    throw error(
        errc::invalid_argument,
        "bootstrap::tcp: these bytes are no tcp_id: were all 128 of tcp_id::make() brought, by a process of "
        "the same version?");
  return contents;
}

tcp_resolution tcp_id_contents::resolution() const {
  tcp_resolution all;
  for (std::size_t i = 0; i < addresses; ++i) all.addresses.push_back(tcp_address::of(raw[i], port));
  return all;
}

std::optional<detail::process_fd> listener_of(const tcp_id_contents& id) {
  made_ids& made = detail::of_process<made_ids>::get();
  const std::lock_guard lock{made.mutex};
  const auto found = made.all.find(id.secret);
  if (found == made.all.end()) return std::nullopt;
  if (found->second.is_over)
    throw error(errc::misuse, "bootstrap::tcp: this tcp_id has been used: make one for each group");
  if (found->second.listener.get() < 0) return std::nullopt;
  return std::exchange(found->second.listener, detail::process_fd{});
}

void end_id(const tcp_id_contents& id) {
  made_ids& made = detail::of_process<made_ids>::get();
  const std::lock_guard lock{made.mutex};
  if (const auto found = made.all.find(id.secret); found != made.all.end()) found->second.is_over = true;
}

}  // namespace chorale::bootstrap
