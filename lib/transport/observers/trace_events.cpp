#include "trace_events.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include <chorale/core/call.hpp>

#include "../../core/printable.hpp"

namespace chorale::transport {
namespace {

/// Writes the events of one part.
class writer {
 public:
  writer(const trace_part& part, std::int64_t shift, std::string& text)
      : part_(part), shift_(shift), out_(std::back_inserter(text)) {}

  void names() {
    const trace_header& h = part_.header;
    fmt::format_to(out_, R"J(,
{{"name":"process_name","ph":"M","pid":{0},"tid":0,"args":{{"name":"rank {0} ({1}, process {2})"}}}},
{{"name":"process_sort_index","ph":"M","pid":{0},"tid":0,"args":{{"sort_index":{0}}}}},
{{"name":"thread_name","ph":"M","pid":{0},"tid":{3},"args":{{"name":"{4}, rank {5} of {6} over {7}"}}}})J",
                   h.owner.home, json_text(text_of(h.owner.host)), h.owner.process, h.owner.number, label(),
                   h.owner.rank, h.owner.size, json_text(text_of(h.owner.transport)));
  }

  void write(const trace_record& r) {
    using kind = trace_record::kind;
    switch (r.what) {
      case kind::call:
        return (r.flags & trace_record::is_nonblocking) != 0 ? write_nonblocking(r) : write_call(r);
      case kind::wait:
        fmt::format_to(out_, R"J(,
{{"name":"wait for {}","cat":"wait","ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"call":{}}}}})J",
                       r.peer < 0 ? std::string{"any rank"} : fmt::format("rank {}", r.peer),
                       part_.header.owner.home, part_.header.owner.number, time(r.begin),
                       duration(r.end - r.begin), r.number);
        return;
      case kind::connected:
        return write_instant(r, fmt::format("connected with rank {}", r.peer));
      case kind::disconnected:
        return write_instant(r, fmt::format("connection with rank {} closed", r.peer));
      case kind::chosen:
        return write_instant(r, fmt::format("chosen: {}", json_text(text(r))));
      case kind::put:
        return write_access(r, "put to");
      case kind::got:
        return write_access(r, "get from");
      case kind::updated:
        return write_access(r, "update of");
      case kind::flushed:
        return write_access(r, "flush of");
      case kind::notified:
        return write_access(r, "notification of");
      case kind::awaited:
        return write_access(r, "wait for notifications of");
      case kind::text:
        return;
    }
  }

  void note_dropped() {
    const std::uint64_t dropped = part_.header.dropped;
    if (dropped == 0) return;
    trace_record at;
    at.begin = part_.records.empty() ? 0 : part_.records.back().end;
    write_instant(at, fmt::format("{} later records were dropped", dropped));
  }

 private:
  /// In microseconds, with nanosecond resolution.
  [[nodiscard]] std::string time(std::int64_t nanoseconds) const { return duration(nanoseconds + shift_); }
  [[nodiscard]] static std::string duration(std::int64_t nanoseconds) {
    const bool negative = nanoseconds < 0;
    const auto size =
        negative ? 0 - static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
    return fmt::format("{}{}.{:03}", negative ? "-" : "", size / 1000, size % 1000);
  }
  [[nodiscard]] std::string_view text(const trace_record& r) const {
    return r.text == 0 ? std::string_view{} : std::string_view{part_.texts[r.text - 1U]};
  }
  [[nodiscard]] static std::string name_of(const trace_record& r) {
    return chorale::name(static_cast<operation>(r.operation));
  }
  [[nodiscard]] std::string arguments(const trace_record& r) const {
    std::string all = fmt::format(R"J("call":{})J", r.number);
    if (static_cast<operation>(r.operation) == operation::window)
      all += fmt::format(R"J(,"window":{},"stage":{})J", r.bytes / 4, r.bytes % 4);
    else
      all += fmt::format(R"J(,"bytes":{})J", r.bytes);
    if (r.peer >= 0) all += fmt::format(R"J(,"root":{})J", r.peer);
    if (r.text != 0) all += fmt::format(R"J(,"algorithm":"{}")J", json_text(text(r)));
    if (r.resent != 0) all += fmt::format(R"J(,"resent":{})J", r.resent);
    if ((r.flags & trace_record::has_failed) != 0) all += R"J(,"failed":true)J";
    return all;
  }
  void write_call(const trace_record& r) {
    fmt::format_to(out_, R"J(,
{{"name":"{}","cat":"call","ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})J",
                   name_of(r), part_.header.owner.home, part_.header.owner.number, time(r.begin),
                   duration(r.end - r.begin), arguments(r));
  }
  void write_nonblocking(const trace_record& r) {
    const std::size_t row = free_row(r.begin, r.end);
    const auto event = [&](const std::string& named, std::int64_t begin, const std::string& more) {
      fmt::format_to(out_, R"J(,
{{"name":"{}","cat":"nonblocking","ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})J",
                     named, part_.header.owner.home, tid_of(row), time(begin), duration(r.end - begin), more);
    };
    event(fmt::format("i{}", name_of(r)), r.begin, arguments(r));
    // A call that failed before its turn has not run.
    if (r.run != 0) event("runs", r.run, fmt::format(R"J("call":{})J", r.number));
  }
  /// A row with no call in progress at `begin`, which is not earlier than the previous call's; emits a name
  /// for a new row.
  std::size_t free_row(std::int64_t begin, std::int64_t end) {
    const auto free = std::ranges::find_if(rows_, [begin](std::int64_t until) { return until <= begin; });
    const auto row = static_cast<std::size_t>(free - rows_.begin());
    if (free != rows_.end()) {
      *free = end;
      return row;
    }
    rows_.push_back(end);
    fmt::format_to(out_, R"J(,
{{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":"{}: nonblocking calls{}"}}}})J",
                   part_.header.owner.home, tid_of(row), label(),
                   row == 0 ? "" : fmt::format(", {}", row + 1));
    return row;
  }
  /// Thread numbers above those of communicators, assuming fewer than a million communicators per process.
  [[nodiscard]] std::uint64_t tid_of(std::size_t row) const {
    return part_.header.owner.number + (std::uint64_t{row} + 1) * 1'000'000;
  }
  [[nodiscard]] std::string label() const {
    const auto name = text_of(part_.header.owner.name);
    return name.empty() ? fmt::format("communicator {:08x}", part_.header.owner.group) : json_text(name);
  }
  /// Window operations: those of one rank are sequential, and outside calls.
  void write_access(const trace_record& r, std::string_view name) {
    const bool moves = r.what == trace_record::kind::put || r.what == trace_record::kind::got ||
                       r.what == trace_record::kind::updated;
    const bool awaits = r.what == trace_record::kind::awaited;
    fmt::format_to(out_, R"J(,
{{"name":"{} {}","cat":"window","ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})J",
                   name,
                   r.peer >= 0 ? fmt::format("rank {}", r.peer)
                   : awaits    ? "any rank"
                               : "all ranks",
                   part_.header.owner.home, part_.header.owner.number, time(r.begin),
                   duration(r.end - r.begin), moves ? fmt::format(R"J("bytes":{})J", r.bytes) : "");
  }
  void write_instant(const trace_record& r, const std::string& name) {
    fmt::format_to(out_, R"J(,
{{"name":"{}","cat":"event","ph":"i","s":"t","pid":{},"tid":{},"ts":{}}})J",
                   name, part_.header.owner.home, part_.header.owner.number, time(r.begin));
  }

  const trace_part& part_;
  std::int64_t shift_;
  std::vector<std::int64_t> rows_;  ///< rows of nonblocking calls: end of the last call in each
  std::back_insert_iterator<std::string> out_;
};

}  // namespace

std::string json_text(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

void write_events(const trace_part& part, std::int64_t shift, std::string& text) {
  writer to{part, shift, text};
  to.names();
  // Sorted by begin, containing events first: a wait ends before its call.
  std::vector<const trace_record*> sorted;
  sorted.reserve(part.records.size());
  for (const trace_record& r : part.records) sorted.push_back(&r);
  std::ranges::stable_sort(sorted, [](const trace_record* a, const trace_record* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
  });
  for (const trace_record* r : sorted) to.write(*r);
  to.note_dropped();
}

}  // namespace chorale::transport
