// SPDX-License-Identifier: Apache-2.0
#include "call_counter.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>
#include <tuple>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "../../core/printable.hpp"
#include "shared_file.hpp"

namespace chorale::transport {
namespace {

constexpr const char* heading =
    "job,group,communicator,transport,host,rank,size,call,algorithm,calls,failed,bytes,seconds,"
    "seconds_waited,resent\n";

/// A field of comma-separated values (RFC 4180).
std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string{text};
  std::string field = "\"";
  for (const char c : text) field.append(c == '"' ? 2 : 1, c);
  return field + '"';
}

double seconds(clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

call_counter::call_counter(std::optional<std::string> to) : to_(std::move(to)), process_(getpid()) {
  counted_.rows.reserve(1);
}

void call_counter::on_made(const observed_communicator& who) noexcept {
  counted_.rank = who.rank;
  counted_.size = who.size;
  try {
    counted_.transport = who.transport;
  } catch (const std::bad_alloc&) {
    // The name stays empty.
  }
}

/// The row of calls without their own row. Memory for it is reserved.
call_statistics::row& call_counter::unknown() noexcept {
  auto& rows = counted_.rows;
  const auto found =
      std::find_if(rows.begin(), rows.end(), [](const auto& r) { return r.what == operation::none; });
  return found != rows.end() ? *found : rows.emplace_back();
}

call_statistics::row& call_counter::find(const observed_call& call) noexcept {
  auto& rows = counted_.rows;
  const auto is_its = [&call](const call_statistics::row& r) {
    return r.what == call.what.what && r.is_nonblocking == call.is_nonblocking &&
           r.algorithm == call.algorithm;
  };
  if (last_ < rows.size() && is_its(rows[last_])) return rows[last_];
  auto found = std::find_if(rows.begin(), rows.end(), is_its);
  if (found == rows.end()) {
    const auto key = [](const call_statistics::row& r) { return std::pair{r.what, r.is_nonblocking}; };
    try {
      rows.reserve(rows.size() + 2);
      call_statistics::row made;
      made.what = call.what.what;
      made.is_nonblocking = call.is_nonblocking;
      made.algorithm = call.algorithm;
      found = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return key(r) > key(made); });
      found = rows.insert(found, std::move(made));
    } catch (const std::bad_alloc&) {
      return unknown();
    }
  }
  last_ = static_cast<std::size_t>(found - rows.begin());
  return *found;
}

void call_counter::on_end(const observed_call& call) noexcept {
  add(call, 1);
  call_statistics::row& r = find(call);
  r.failures += call.failure ? 1 : 0;
  r.resent += call.resent;
}

void call_counter::on_passed(const observed_call& last, std::uint64_t calls) noexcept {
  add(last, calls);
}

void call_counter::add(const observed_call& call, std::uint64_t times) noexcept {
  call_statistics::row& r = find(call);
  r.calls += times;
  // For windows `bytes` is not a number of bytes.
  r.bytes += call.what.what == operation::window ? 0 : times * call.what.bytes;
  r.time += static_cast<clock::rep>(times) * (call.over - call.begun);
  r.waited += static_cast<clock::rep>(times) * call.waited;
}

void call_counter::on_ended(const observed_communicator& who) noexcept {
  if (getpid() != process_) return;
  try {
    counted_.name = who.name;
    write(who);
  } catch (const std::exception& e) {
    chorale::say(stderr, "chorale: rank {} cannot write its statistics: {}\n", who.rank, e.what());
  }
}

void call_counter::write(const observed_communicator& who) const {
  if (!to_) {
    if (who.rank == 0 && !counted_.rows.empty()) chorale::say(stderr, "chorale: {}", counted_.table());
    return;
  }
  std::string text;
  for (const call_statistics::row& r : counted_.rows)
    text += fmt::format("{:08x},{:08x},{},{},{},{},{},{}{},{},{},{},{},{:.9f},{:.9f},{}\n", who.job,
                        who.group, quoted(who.name), who.transport, quoted(who.host), who.rank, who.size,
                        r.is_nonblocking ? "i" : "", name(r.what), quoted(r.algorithm), r.calls, r.failures,
                        r.bytes, seconds(r.time), seconds(r.waited), r.resent);
  shared_file file{*to_};
  if (file.size() == 0) file.append(heading);
  file.append(text);
}

}  // namespace chorale::transport
