#include "call_trace.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/core/surroundings.hpp>

#include "../../core/printable.hpp"
#include "homes.hpp"
#include "trace_merge.hpp"

namespace chorale::transport {
namespace {

template <std::size_t Size>
void set(char (&member)[Size], std::string_view text) noexcept {
  std::memset(member, 0, Size);
  std::memcpy(member, text.data(), std::min(text.size(), Size - 1));
}

std::int64_t nanoseconds(clock::time_point time) noexcept {
  return time.time_since_epoch().count();
}

trace_record::kind kind_of(observed_event::kind what) noexcept {
  using from = observed_event::kind;
  using to = trace_record::kind;
  switch (what) {
    case from::connected:
      return to::connected;
    case from::disconnected:
      return to::disconnected;
    case from::chosen:
      return to::chosen;
    case from::put:
      return to::put;
    case from::got:
      return to::got;
    case from::updated:
      return to::updated;
    case from::flushed:
      return to::flushed;
    case from::notified:
      return to::notified;
    case from::awaited:
      break;
  }
  return to::awaited;
}

std::string name_of_part(const observed_communicator& who) {
  return fmt::format("{:08x}.{}", who.group, who.rank);
}

/// Creates the file of a part, in a folder that another rank may be removing meanwhile.
std::unique_ptr<trace_memory> make_part(const std::string& folder, const observed_communicator& who,
                                        std::size_t bytes) {
  for (int attempts_left = 16;; --attempts_left) {
    try {
      return std::make_unique<trace_memory>(detail::held_folder::made(folder), name_of_part(who), bytes);
    } catch (const detail::file_refusal& refused) {
      if (refused.errnum() == ENOENT && attempts_left > 0) continue;
      throw_errno(refused.errnum(), "open", refused.about(folder),
                  "choose another file for the trace, in a folder that others cannot write");
    }
  }
}

}  // namespace

call_trace::call_trace(std::string file, std::size_t most_records, const observed_communicator& who)
    : file_(std::move(file)),
      folder_(trace_folder(file_, who.job)),
      process_(getpid()),
      flow_(surroundings::this_flow()),
      memory_(make_part(folder_, who, trace_header::bytes + most_records * sizeof(trace_record))) {
  if (!memory_->reach(trace_header::bytes))
    throw_errno(ENOSPC, "posix_fallocate", printable(folder_), "make room on the disk");
  auto& h = *new (memory_->data()) trace_header;
  h.owner.job = who.job;
  h.owner.group = who.group;
  h.owner.number = static_cast<std::uint32_t>(who.number);
  h.owner.rank = who.rank;
  h.owner.size = who.size;
  h.owner.home = who.home;
  h.owner.process = static_cast<std::uint32_t>(process_);
  set(h.owner.host, who.host);
  set(h.owner.transport, who.transport);
  set(h.owner.device, who.device);
  struct stat seen {};
  if (::fstat(memory_->file(), &seen) == 0) {
    h.began_seconds = seen.st_mtim.tv_sec;
    h.began_nanoseconds = seen.st_mtim.tv_nsec;
  }
}

call_trace::~call_trace() = default;

trace_header& call_trace::header() const noexcept {
  return *reinterpret_cast<trace_header*>(memory_->data());
}

std::byte* call_trace::place(std::size_t rows) noexcept {
  const std::size_t begin = trace_header::bytes + header().records * sizeof(trace_record);
  return memory_->reach(begin + rows * sizeof(trace_record)) ? memory_->data() + begin : nullptr;
}

void call_trace::complete(std::size_t rows) noexcept {
  // Written only by this thread; read by others after the process was killed.
  const std::atomic_ref count{header().records};
  count.store(count.load(std::memory_order_relaxed) + rows, std::memory_order_release);
}

void call_trace::write(const trace_record& record) noexcept {
  std::byte* const to = place(1);
  if (to == nullptr) {
    ++header().dropped;
    return;
  }
  std::memcpy(to, &record, sizeof record);
  complete(1);
}

std::uint16_t call_trace::number_of(std::string_view text) noexcept {
  if (text.empty()) return 0;
  if (last_text_ < texts_.size() && texts_[last_text_] == text)
    return static_cast<std::uint16_t>(last_text_ + 1);
  const auto known = std::find(texts_.begin(), texts_.end(), text);
  last_text_ = static_cast<std::size_t>(known - texts_.begin());
  if (known != texts_.end()) return static_cast<std::uint16_t>(last_text_ + 1);
  if (texts_.size() == std::numeric_limits<std::uint16_t>::max()) return 0;
  trace_record row;
  row.what = trace_record::kind::text;
  row.bytes = std::min<std::size_t>(text.size(), 4096);
  const std::size_t rows = (row.bytes + sizeof row - 1) / sizeof row;
  std::byte* const to = place(1 + rows);
  if (to == nullptr) return 0;
  try {
    texts_.emplace_back(text);
  } catch (const std::bad_alloc&) {
    return 0;
  }
  std::memcpy(to, &row, sizeof row);
  std::memset(to + sizeof row, 0, rows * sizeof row);
  std::memcpy(to + sizeof row, text.data(), row.bytes);
  complete(1 + rows);
  return static_cast<std::uint16_t>(texts_.size());
}

void call_trace::on_end(const observed_call& call) noexcept {
  trace_record r;
  r.begin = nanoseconds(call.begun);
  r.run = nanoseconds(call.run);
  r.end = nanoseconds(call.over);
  r.bytes = call.what.bytes;
  r.number = static_cast<std::uint32_t>(call.number);
  r.peer = call.what.root;
  r.text = number_of(call.algorithm);
  r.resent = static_cast<std::uint16_t>(std::min<std::uint64_t>(call.resent, 0xffff));
  r.what = trace_record::kind::call;
  r.operation = static_cast<std::uint8_t>(call.what.what);
  r.flags = static_cast<std::uint8_t>((call.is_nonblocking ? trace_record::is_nonblocking : 0) |
                                      (call.failure ? trace_record::has_failed : 0));
  write(r);
}

void call_trace::on_wait(const observed_wait& wait) noexcept {
  trace_record r;
  r.begin = nanoseconds(wait.begin);
  r.end = nanoseconds(wait.end);
  r.number = static_cast<std::uint32_t>(wait.in->number);
  r.peer = wait.peer;
  r.what = trace_record::kind::wait;
  write(r);
}

void call_trace::on_event(const observed_event& event) noexcept {
  trace_record r;
  r.end = nanoseconds(event.time);
  r.begin = event.begin == clock::time_point{} ? r.end : nanoseconds(event.begin);
  r.bytes = event.bytes;
  r.peer = event.peer;
  r.text = number_of(event.text);
  r.what = kind_of(event.what);
  write(r);
}

void call_trace::on_ended(const observed_communicator& who) noexcept {
  if (getpid() != process_) return;
  std::string shown;
  try {
    shown = printable(folder_);
    const std::uint64_t dropped = header().dropped;
    set(header().owner.name, who.name);
    std::atomic_ref{header().is_closed}.store(1, std::memory_order_release);
    memory_.reset();
    if (dropped != 0)
      chorale::say(
          stderr,
          "chorale: the trace of rank {} has no room for {} later records: raise CHORALE_TRACE_RECORDS\n",
          who.rank, dropped);
    const auto parts = detail::held_folder::own(folder_);
    if (close_trace_group(parts, who.group, who.size) && homes::all().has_lost_first(flow_))
      merge_complete_trace(parts, file_);
  } catch (const std::exception& e) {
    chorale::say(stderr, "chorale: rank {} cannot write its trace: {}; its part stays in {}\n", who.rank,
                 e.what(), shown.empty() ? "its folder" : shown.c_str());
  }
}

}  // namespace chorale::transport
