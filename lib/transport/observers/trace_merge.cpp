#include "trace_merge.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/call.hpp>
#include <chorale/core/error.hpp>

#include "../../core/printable.hpp"
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

std::string count_of(std::uint32_t group) {
  return fmt::format("{:08x}.count", group);
}

bool is_part(std::string_view name) noexcept {
  const auto dot = name.find('.');
  return dot != std::string_view::npos && dot != 0 && dot + 1 < name.size() &&
         name.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
}

/// The marker that the group of a part is complete.
std::string marker_of(std::string_view part) {
  return fmt::format("{}.complete", part.substr(0, part.find('.')));
}

std::uintmax_t bytes_of(const trace_place& part) {
  struct stat seen {};
  return ::fstat(part.folder->open(part.name, O_RDONLY).get(), &seen) == 0
             ? static_cast<std::uintmax_t>(seen.st_size)
             : 0;
}

}  // namespace

bool is_of_trace(std::string_view name) noexcept {
  return is_part(name) || name == "merging" || name.ends_with(".count") || name.ends_with(".complete") ||
         name.ends_with(".lock");
}

std::vector<trace_place> parts_in(const detail::held_folder& folder) {
  std::vector<trace_place> parts;
  for (std::string& name : folder.names())
    if (is_part(name)) parts.push_back({&folder, std::move(name)});
  return parts;
}

bool close_trace_group(const detail::held_folder& folder, std::uint32_t group, int size) {
  shared_file count{folder, count_of(group)};
  const std::string before = count.read_at(0, 16);
  int closed = 0;
  std::from_chars(before.data(), before.data() + before.size(), closed);
  count.write_at(0, fmt::format("{}\n", ++closed));
  if (closed < size) return false;
  folder.rename(count_of(group), marker_of(count_of(group)));
  return true;
}

void merge_complete_trace(const detail::held_folder& folder, const std::string& file) {
  std::vector<trace_place> parts;
  {
    // If two ranks end communicators at the same time, one merges everything.
    const shared_file alone{folder, "merging"};
    std::vector<std::string> markers = folder.names();
    std::erase_if(markers, [](const std::string& name) { return !name.ends_with(".complete"); });
    std::uintmax_t bytes = 0;
    for (trace_place& part : parts_in(folder)) {
      if (std::find(markers.begin(), markers.end(), marker_of(part.name)) == markers.end()) continue;
      bytes += bytes_of(part);
      parts.push_back(std::move(part));
    }
    if (bytes > most_bytes_at_end) {
      chorale::say(stderr, "chorale: the trace is long: run chorale-trace {} to put it together\n",
                   printable(file));
      return;
    }
    for (const auto& marker : markers) folder.remove(marker);
  }
  if (parts.empty()) return;
  const merged_trace made = merge_trace(parts, file);
  for (const std::string& remark : made.remarks) chorale::say(stderr, "chorale: trace: {}\n", remark);
  if (made.file != file)
    chorale::say(stderr, "chorale: another job has written {} meanwhile: the trace of this one is in {}\n",
                 printable(file), printable(made.file));
  for (const trace_place& part : parts) folder.remove(part.name);
  // The folder may still be in use.
  if (parts_in(folder).empty()) folder.remove("merging");
  folder.remove();
}

merged_trace merge_trace(const std::vector<trace_place>& places, const std::string& file) {
  merged_trace made;
  std::vector<trace_part> parts;
  for (const trace_place& place : places) {
    const std::string path = place.folder->path_of(place.name);
    try {
      trace_part part = read_trace_part(place.folder->open(place.name, O_RDONLY), path);
      if (!parts.empty() && part.header.owner.job != parts.front().header.owner.job)
        throw error(
            errc::invalid_argument,
            fmt::format("{} is of another job than {}: put the traces of jobs together one by one",
                        printable(path), printable(places.front().folder->path_of(places.front().name))));
      parts.push_back(std::move(part));
    } catch (const error& e) {
      if (e.code() != errc::invalid_argument || places.size() == 1) throw;
      made.remarks.push_back(e.reason());
    } catch (const detail::file_refusal& refused) {
      if (places.size() == 1)
        throw error(errc::invalid_argument, fmt::format("{}: {}", printable(path), refused.what()));
      made.remarks.push_back(fmt::format("{} is left out: {}", printable(path), refused.what()));
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
