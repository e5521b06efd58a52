#include "trace_merge.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <chorale/core/call.hpp>
#include <chorale/core/error.hpp>

#include "../../core/printable.hpp"
#include "../../core/streams_reserved.hpp"
#include "clock_alignment.hpp"
#include "shared_file.hpp"
#include "trace_events.hpp"
#include "trace_part.hpp"

namespace chorale::transport {
namespace {

/// Written at the end of a trace, so that the file is a valid JSON array at any time.
constexpr std::string_view ending = "\n]\n";
/// Limit of what a rank merges when its communicator ends, at 200 bytes of text per record; more would look
/// like a hang.
constexpr std::uintmax_t most_bytes_at_end = 5'000'000 * sizeof(trace_record);

std::string beginning(std::uint32_t job) {
  return fmt::format(
      "[\n{{\"name\":\"chorale_job\",\"ph\":\"M\",\"pid\":0,\"tid\":0,\"args\":{{\"job\":\"{:08x}\"}}}}",
      job);
}

/// Whether no rank can leave this call before all have entered it.
bool is_synchronizing(const trace_record& r) noexcept {
  if (r.what != trace_record::kind::call || (r.flags & trace_record::has_failed) != 0 || r.run == 0)
    return false;
  switch (static_cast<operation>(r.operation)) {
    case operation::barrier:
      return true;
    case operation::allreduce:
    case operation::allgather:
    case operation::alltoall:
      return r.bytes != 0;
    default:
      return false;
  }
}

/// The file, or another one if another job has written it since the part with header `h` was made.
std::string place_for(const std::string& file, const trace_header& h) {
  struct stat seen {};
  if (::stat(file.c_str(), &seen) != 0 || seen.st_size == 0) return file;
  {
    const shared_file there{file};
    const std::string wanted = beginning(h.owner.job);
    if (there.read_at(0, wanted.size()) == wanted) return file;
  }
  const bool is_newer = std::pair<std::int64_t, std::int64_t>{seen.st_mtim.tv_sec, seen.st_mtim.tv_nsec} >
                        std::pair{h.began_seconds, h.began_nanoseconds};
  return is_newer ? fmt::format("{}.{:08x}.json", file, h.owner.job) : file;
}

void append_events(const std::string& file, std::uint32_t job, std::string_view events) {
  shared_file to{file};
  const std::string first = beginning(job);
  std::uint64_t end = to.size();
  if (to.read_at(0, first.size()) != first || end < first.size() + ending.size()) {
    to.truncate(0);
    to.append(first);
    end = first.size();
  } else {
    end -= ending.size();
    if (to.read_at(end, ending.size()) != ending) end += ending.size();
  }
  to.write_at(end, std::string{events} + std::string{ending});
}

std::size_t number_of_host(std::vector<std::string>& hosts, std::string_view host) {
  const auto known = std::find(hosts.begin(), hosts.end(), host);
  if (known != hosts.end()) return static_cast<std::size_t>(known - hosts.begin());
  hosts.emplace_back(host);
  return hosts.size() - 1;
}

/// Finds the clock offsets of all hosts relative to the first, which has the lowest rank.
std::vector<clock_alignment::shift> align(const std::vector<trace_part>& parts, merged_trace& made) {
  clock_alignment clocks;
  for (const trace_part& part : parts) number_of_host(made.hosts, text_of(part.header.owner.host));
  if (made.hosts.size() > 1) {
    for (const trace_part& part : parts) {
      const std::size_t host = number_of_host(made.hosts, text_of(part.header.owner.host));
      for (const trace_record& r : part.records)
        if (is_synchronizing(r)) clocks.add(host, {part.header.owner.group, r.number}, r.run, r.end);
    }
  }
  const auto shifts = clocks.shifts(made.hosts.size());
  for (std::size_t host = 1; host < shifts.size(); ++host) {
    const auto& s = shifts[host];
    made.remarks.push_back(
        !s.is_known
            ? fmt::format("clock of host {}: unknown, since no call of all ranks has ended on it and on {}",
                          made.hosts[host], made.hosts[0])
            : fmt::format("clock of host {}: shifted by {} ns to that of {}, give or take {} ns",
                          made.hosts[host], s.nanoseconds, made.hosts[0], s.uncertainty));
  }
  return shifts;
}

std::filesystem::path count_of(const std::string& folder, std::uint32_t group) {
  return std::filesystem::path{folder} / fmt::format("{:08x}.count", group);
}

}  // namespace

std::vector<std::string> parts_in(const std::string& folder) {
  std::vector<std::string> parts;
  for (const auto& entry :
       detail::above_streams([&] { return std::filesystem::directory_iterator{folder}; })) {
    const std::string name = entry.path().filename().string();
    const auto dot = name.find('.');
    if (dot != std::string::npos && name.find_first_not_of("0123456789", dot + 1) == std::string::npos)
      parts.push_back(entry.path().string());
  }
  std::ranges::sort(parts);
  return parts;
}

bool close_trace_group(const std::string& folder, std::uint32_t group, int size) {
  shared_file count{count_of(folder, group).string()};
  const std::string before = count.read_at(0, 16);
  int closed = 0;
  std::from_chars(before.data(), before.data() + before.size(), closed);
  count.write_at(0, fmt::format("{}\n", ++closed));
  if (closed < size) return false;
  std::filesystem::rename(count_of(folder, group), count_of(folder, group).replace_extension("complete"));
  return true;
}

void merge_complete_trace(const std::string& folder, const std::string& file) {
  std::vector<std::string> parts;
  std::vector<std::filesystem::path> markers;
  {
    // Of two ranks that end communicators at the same time, one merges everything.
    const shared_file alone{(std::filesystem::path{folder} / "merging").string()};
    for (const auto& entry :
         detail::above_streams([&] { return std::filesystem::directory_iterator{folder}; }))
      if (entry.path().extension() == ".complete") markers.push_back(entry.path());
    std::uintmax_t bytes = 0;
    for (const std::string& part : parts_in(folder)) {
      auto marker = std::filesystem::path{part}.replace_extension("complete");
      if (std::find(markers.begin(), markers.end(), marker) == markers.end()) continue;
      parts.push_back(part);
      bytes += std::filesystem::file_size(part);
    }
    if (bytes > most_bytes_at_end) {
      chorale::say(stderr, "chorale: the trace is long: run chorale-trace {} to put it together\n",
                   printable(file));
      return;
    }
    for (const auto& marker : markers) std::filesystem::remove(marker);
  }
  if (parts.empty()) return;
  const merged_trace made = merge_trace(parts, file);
  for (const std::string& remark : made.remarks) chorale::say(stderr, "chorale: trace: {}\n", remark);
  if (made.file != file)
    chorale::say(stderr, "chorale: another job has written {} meanwhile: the trace of this one is in {}\n",
                 printable(file), printable(made.file));
  for (const std::string& part : parts) std::filesystem::remove(part);
  std::error_code still_in_use;
  if (parts_in(folder).empty())
    std::filesystem::remove(std::filesystem::path{folder} / "merging", still_in_use);
  std::filesystem::remove(folder, still_in_use);
}

merged_trace merge_trace(const std::vector<std::string>& paths, const std::string& file) {
  merged_trace made;
  std::vector<trace_part> parts;
  for (const std::string& path : paths) {
    try {
      trace_part part = read_trace_part(path);
      if (!parts.empty() && part.header.owner.job != parts.front().header.owner.job)
        throw error(errc::invalid_argument,
                    fmt::format("{} is of another job than {}: put the traces of jobs together one by one",
                                printable(path), printable(paths.front())));
      parts.push_back(std::move(part));
    } catch (const error& e) {
      if (e.code() != errc::invalid_argument || paths.size() == 1) throw;
      made.remarks.push_back(e.reason());
    }
  }
  if (parts.empty()) throw error(errc::invalid_argument, "there are no parts of a trace");
  std::ranges::stable_sort(parts, {}, [](const trace_part& p) {
    return std::pair{p.header.owner.home, p.header.owner.number};
  });
  const auto shifts = align(parts, made);
  const std::uint32_t job = parts.front().header.owner.job;
  made.file = place_for(file, parts.front().header);
  made.parts = parts.size();
  std::string events;
  for (const trace_part& part : parts) {
    made.open += part.header.is_closed == 0 ? 1 : 0;
    made.records += part.records.size();
    made.dropped += part.header.dropped;
    write_events(part, shifts[number_of_host(made.hosts, text_of(part.header.owner.host))].nanoseconds,
                 events);
    if (events.size() < (std::size_t{1} << 24)) continue;
    append_events(made.file, job, events);
    events.clear();
  }
  append_events(made.file, job, events);
  return made;
}

}  // namespace chorale::transport
