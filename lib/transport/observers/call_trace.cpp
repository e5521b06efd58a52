// SPDX-License-Identifier: Apache-2.0
#include "call_trace.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <new>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/error.hpp>

#include "../../core/printable.hpp"

namespace chorale::transport {
namespace {

/// Escaped for a JSON string.
std::string json_text(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

/// The number, within its process, of a row of nonblocking calls: above those of the communicators' own rows,
/// assuming fewer than a million communicators.
std::uint64_t number_of_row(const observed_communicator& who, std::size_t row) noexcept {
  return who.number + (std::uint64_t{row} + 1) * 1'000'000;
}

/// The constant part of the records of similar calls, up to the number of the call.
std::string text_of(const observed_call& call) {
  std::string text =
      fmt::format(R"J(,"cat":"{}","name":"{}{}","args":{{)J", call.is_nonblocking ? "nonblocking" : "call",
                  call.is_nonblocking ? "i" : "", chorale::name(call.what.what));
  if (call.what.what == operation::window)
    text += fmt::format(R"J("window":{},"stage":{})J", call.what.bytes / 4, call.what.bytes % 4);
  else
    text += fmt::format(R"J("bytes":{})J", call.what.bytes);
  if (call.what.root >= 0) text += fmt::format(R"J(,"root":{})J", call.what.root);
  if (!call.algorithm.empty()) text += fmt::format(R"J(,"algorithm":"{}")J", json_text(call.algorithm));
  return text + R"J(,"call":)J";
}

std::string_view name_of_access(observed_event::kind what) noexcept {
  using kind = observed_event::kind;
  switch (what) {
    case kind::put:
      return "put to ";
    case kind::got:
      return "get from ";
    case kind::updated:
      return "update of ";
    case kind::flushed:
      return "flush of ";
    case kind::notified:
      return "notification of ";
    default:
      return "wait for notifications of ";
  }
}

}  // namespace

call_trace::call_trace(const std::string& file, std::size_t most, const observed_communicator& who)
    : file_(file),
      folder_(fmt::format("{}.{:08x}.parts", file, who.job)),
      process_(getpid()),
      who_(&who),
      room_(most),
      head_(fmt::format("\n{{\"pid\":{},\"tid\":{},\"ts\":", who.home, who.number)) {
  try {
    out_.emplace(detail::held_folder::made(folder_), fmt::format("{:08x}.{}", who.group, who.rank));
  } catch (const detail::file_refusal& refused) {
    throw_errno(refused.errnum(), "open", refused.about(folder_),
                "choose another file for the trace (CHORALE_TRACE), in a folder that others cannot write");
  }
  const auto text = fmt::format(
      R"J(
{{"name":"chorale_job","ph":"M","pid":{0},"tid":0,"args":{{"job":"{1:08x}","group":"{2:08x}","number":{3},"rank":{4},"host":"{5}","home":{0}}}}},
{{"name":"process_name","ph":"M","pid":{0},"tid":0,"args":{{"name":"rank {0} ({5}, process {6})"}}}},
{{"name":"process_sort_index","ph":"M","pid":{0},"tid":0,"args":{{"sort_index":{0}}}}})J",
      who.home, who.job, who.group, who.number, who.rank, json_text(who.host), process_);
  out_->complete('[', (trace_line{out_->last_place()} << text).end());
  name_row();
}

void call_trace::on_made(const observed_communicator& who) noexcept {
  who_ = &who;
}

char* call_trace::place(clock::time_point time) noexcept {
  char* const at = room_ != 0 ? out_->place() : nullptr;
  if (at == nullptr) [[unlikely]] {
    if (++dropped_ == 1)
      write_instant(out_->last_place(), time, "there is no room: later records are dropped");
    return nullptr;
  }
  --room_;
  return at;
}

trace_line call_trace::begin(char* at, clock::time_point time, std::optional<std::size_t> row) noexcept {
  trace_line line{at};
  if (row)
    line << "\n{\"pid\":" << who_->home << ",\"tid\":" << number_of_row(*who_, *row) << ",\"ts\":";
  else
    line << head_;
  times_.write(line, time);
  return line;
}

void call_trace::describe(const observed_call& call, trace_line& line) noexcept {
  kind_of_call& known = kinds_[static_cast<std::size_t>(call.what.what)];
  try {
    if (known.bytes != call.what.bytes || known.root != call.what.root ||
        known.is_nonblocking != call.is_nonblocking || known.algorithm != call.algorithm ||
        known.text.empty()) {
      known.text.clear();
      known.bytes = call.what.bytes;
      known.root = call.what.root;
      known.is_nonblocking = call.is_nonblocking;
      known.algorithm = call.algorithm;
      known.text = text_of(call);
    }
    line << known.text;
  } catch (const std::bad_alloc&) {
    line << R"J(,"cat":"call","name":")J" << chorale::name(call.what.what) << R"J(","args":{"call":)J";
  }
}

void call_trace::on_end(const observed_call& call) noexcept {
  if (passed_ != call.what) write_passed();
  const auto row = call.is_nonblocking ? std::optional{free_row(call.begun, call.over)} : std::nullopt;
  char* const at = place(call.begun);
  if (at == nullptr) return;
  trace_line line = begin(at, call.begun, row);
  line << R"J(,"ph":"X","dur":)J" << call.over - call.begun;
  describe(call, line);
  line << call.number;
  if (const std::uint64_t calls = std::exchange(passed_calls_, 0); calls != 0)
    line << R"J(,"untimed":)J" << calls;
  if (call.resent != 0) line << R"J(,"resent":)J" << call.resent;
  if (call.failure) line << R"J(,"failed":true)J";
  line << "}}";
  // A call that failed before its turn has not run.
  if (row && call.run != clock::time_point{}) {
    line = begin((line << ',').end(), call.run, row);
    line << R"J(,"ph":"X","dur":)J" << call.over - call.run
         << R"J(,"cat":"nonblocking","name":"runs","args":{"call":)J" << call.number << "}}";
  }
  out_->complete(',', line.end());
}

/// A row with no call in progress at `begin`, which is not earlier than the previous call's.
std::size_t call_trace::free_row(clock::time_point begin, clock::time_point end) noexcept {
  const auto free = std::ranges::find_if(rows_, [begin](clock::time_point until) { return until <= begin; });
  const auto row = static_cast<std::size_t>(free - rows_.begin());
  if (free != rows_.end()) {
    *free = end;
    return row;
  }
  try {
    rows_.push_back(end);
    name_row(row);
  } catch (const std::bad_alloc&) {
    // The row stays without a name.
  }
  return row;
}

void call_trace::on_wait(const observed_wait& wait) noexcept {
  char* const at = place(wait.begin);
  if (at == nullptr) return;
  trace_line line = begin(at, wait.begin);
  line << R"J(,"ph":"X","dur":)J" << wait.end - wait.begin << R"J(,"name":"wait for )J";
  if (wait.peer < 0)
    line << "any rank\"";
  else
    line << "rank " << wait.peer << '"';
  // `chorale-trace` gives a wait without arguments the number of the blocking call that follows. These lines
  // are the most frequent, and the cost of each is its length.
  if (wait.in->is_nonblocking) line << R"J(,"args":{"call":)J" << wait.in->number << '}';
  out_->complete(',', (line << '}').end());
}

void call_trace::on_event(const observed_event& event) noexcept {
  using kind = observed_event::kind;
  if (event.what != kind::connected && event.what != kind::disconnected && event.what != kind::chosen)
    return write_access(event);
  char* const at = place(event.time);
  if (at == nullptr) return;
  try {
    write_instant(at, event.time,
                  event.what == kind::chosen ? "chosen: " + json_text(event.text)
                  : event.what == kind::connected
                      ? fmt::format("connected with rank {}", event.peer)
                      : fmt::format("connection with rank {} closed", event.peer));
  } catch (const std::bad_alloc&) {
    write_instant(at, event.time, "an event without a name, for which there was no memory");
  }
}

void call_trace::on_passed(const observed_call& last, std::uint64_t calls) noexcept {
  write_passed();
  // The next call is usually similar, and its record then states their number.
  passed_ = last.what;
  passed_calls_ = calls;
  passed_since_ = last.over;
}

void call_trace::write_passed() noexcept {
  if (const std::uint64_t calls = std::exchange(passed_calls_, 0); calls != 0)
    write_untimed(passed_since_, chorale::name(passed_.what), calls);
}

void call_trace::on_passed_events(const observed_event& last, std::uint64_t events) noexcept {
  write_untimed(last.time, name_of_access(last.what), events);
}

void call_trace::write_untimed(clock::time_point since, std::string_view what,
                               std::uint64_t number) noexcept {
  char* const at = place(since);
  if (at == nullptr) return;
  char text[80];
  const auto end = fmt::format_to_n(text, sizeof text, "untimed: {}", what.substr(0, what.find(' '))).out;
  write_instant(at, since, {text, static_cast<std::size_t>(end - text)}, number, "untimed");
}

/// Window operations: those of one rank are sequential, and outside calls.
void call_trace::write_access(const observed_event& event) noexcept {
  using kind = observed_event::kind;
  char* const at = place(event.begin);
  if (at == nullptr) return;
  trace_line line = begin(at, event.begin);
  line << ",\"ph\":\"X\",\"dur\":" << event.time - event.begin << ",\"cat\":\"window\",\"name\":\""
       << name_of_access(event.what);
  if (event.peer >= 0)
    line << "rank " << event.peer;
  else
    line << (event.what == kind::awaited ? "any rank" : "all ranks");
  line << "\",\"args\":{";
  if (event.what == kind::put || event.what == kind::got || event.what == kind::updated)
    line << "\"bytes\":" << event.bytes;
  out_->complete(',', (line << "}}").end());
}

void call_trace::write_instant(char* at, clock::time_point time, std::string_view name, std::uint64_t number,
                               std::string_view named) noexcept {
  trace_line line = begin(at, time);
  line << R"J(,"ph":"i","s":"t","cat":"event","name":")J" << name << '"';
  if (number != 0) line << R"J(,"args":{")J" << named << R"J(":)J" << number << '}';
  out_->complete(',', (line << '}').end());
}

void call_trace::name_row(std::optional<std::size_t> row) {
  char* const at = out_->place();
  if (at == nullptr) return;
  const auto label =
      who_->name.empty() ? fmt::format("communicator {:08x}", who_->group) : json_text(who_->name);
  const auto text = fmt::format(
      "\n{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}",
      who_->home, row ? number_of_row(*who_, *row) : who_->number,
      row ? fmt::format("{}: nonblocking calls{}", label, *row == 0 ? "" : fmt::format(", {}", *row + 1))
          : fmt::format("{}, rank {} of {} over {}", label, who_->rank, who_->size,
                        json_text(who_->transport)));
  out_->complete(',', (trace_line{at} << text).end());
}

void call_trace::on_ended(const observed_communicator& who) noexcept {
  if (getpid() != process_) return;
  write_passed();
  try {
    if (!who.name.empty()) {
      name_row();
      for (std::size_t row = 0; row < rows_.size(); ++row) name_row(row);
    }
  } catch (const std::bad_alloc&) {
    // Rows keep the names that they have.
  }
  if (dropped_ != 0) {
    chorale::say(stderr, "chorale: the trace of rank {} has no room for {} later records: {}\n", who.rank,
                 dropped_, room_ == 0 ? "raise CHORALE_TRACE_RECORDS" : "make room on the disk");
    write_instant(out_->last_place(), clock::now(), "later records were dropped", dropped_);
  }
  out_->complete('\n', (trace_line{out_->last_place()} << "]\n").end());
  out_.reset();
  // Once for each job that this process takes part in, by the first rank.
  static std::atomic<std::uint32_t> told{0};
  if (who.home == 0 && told.exchange(who.job) != who.job)
    chorale::say(stderr, "chorale: each rank's trace is in {}; `chorale-trace {}` makes one of them\n",
                 folder_, file_);
}

}  // namespace chorale::transport
