// Traces: clocks that differ, parts of single ranks, and invalid files.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/call.hpp>
#include <chorale/core/error.hpp>

#include "../../lib/core/files.hpp"
#include "../../lib/transport/observers/clock_alignment.hpp"
#include "../../lib/transport/observers/trace_events.hpp"
#include "../../lib/transport/observers/trace_merge.hpp"
#include "../../lib/transport/observers/trace_part.hpp"
#include "../support/seed.hpp"
#include "ranks.hpp"

using chorale::transport::clock_alignment;
using chorale::transport::trace_header;
using chorale::transport::trace_part;
using chorale::transport::trace_record;

namespace {

namespace fs = std::filesystem;

/// How many allocations of disk space signals are still to interrupt.
std::atomic<int> interruptions{0};

}  // namespace

/// Replaces the system's function in this program and the library.
extern "C" int posix_fallocate(int file, off_t begin, off_t bytes) {
  if (interruptions.load() > 0 && interruptions.fetch_sub(1) > 0) return EINTR;
  return fallocate(file, 0, begin, bytes) == 0 ? 0 : errno;
}

namespace {

namespace fs = std::filesystem;

class scratch_folder {
 public:
  scratch_folder() : path_(fs::temp_directory_path() / ("chorale-parts-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directory(path_);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() { fs::remove_all(path_); }
  [[nodiscard]] fs::path file(const std::string& name) const { return path_ / name; }
  [[nodiscard]] std::string name() const { return path_.string(); }

 private:
  fs::path path_;
};

std::string bytes_of(const trace_header& h, const std::vector<trace_record>& records) {
  std::string text(trace_header::bytes, '\0');
  std::memcpy(text.data(), &h, sizeof h);
  text.append(reinterpret_cast<const char*>(records.data()), records.size() * sizeof(trace_record));
  return text;
}

trace_header header_of(int rank, int size, const std::string& host, std::size_t records) {
  trace_header h;
  h.owner.job = 7;
  h.owner.group = 9;
  h.owner.rank = h.owner.home = rank;
  h.owner.size = size;
  h.records = records;
  host.copy(h.owner.host, sizeof h.owner.host - 1);
  return h;
}

trace_record call_at(std::int64_t begin, std::int64_t end, std::uint32_t number) {
  trace_record r;
  r.begin = r.run = begin;
  r.end = end;
  r.number = number;
  r.operation = static_cast<std::uint8_t>(chorale::operation::barrier);
  return r;
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream{path, std::ios::binary} << text;
}

trace_part read_part(const fs::path& path) {
  return chorale::transport::read_trace_part(chorale::detail::open_to_read(path.string()), path.string());
}

std::string read(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

TEST_CASE("clocks of hosts are aligned by the calls of all ranks", "[trace]") {
  std::mt19937_64 draw{support::seed()};
  for (const std::size_t hosts : {1U, 2U, 3U, 7U}) {
    CAPTURE(hosts, support::seed());
    std::vector<std::int64_t> wrong(hosts);
    for (std::size_t h = 1; h < hosts; ++h)
      wrong[h] = static_cast<std::int64_t>(draw() % 2'000'000'000) - 1'000'000'000;
    clock_alignment clocks;
    std::int64_t shortest = 1'000'000;
    std::int64_t now = 0;
    for (std::uint32_t call = 1; call <= 40; ++call) {
      // All begin within 1 ms; none ends before the last has begun.
      std::vector<std::int64_t> begins(2 * hosts);
      for (auto& begin : begins) begin = now + static_cast<std::int64_t>(draw() % 1'000'000);
      const auto last = *std::max_element(begins.begin(), begins.end());
      const auto first = *std::min_element(begins.begin(), begins.end());
      std::int64_t over = last;
      for (std::size_t rank = 0; rank < begins.size(); ++rank) {
        const auto end = last + 1 + static_cast<std::int64_t>(draw() % 2000);
        over = std::max(over, end);
        clocks.add(rank % hosts, {1, call}, begins[rank] + wrong[rank % hosts], end + wrong[rank % hosts]);
      }
      shortest = std::min(shortest, over - first);
      now = over + 1000;
    }
    const auto shifts = clocks.shifts(hosts);
    REQUIRE(shifts.size() == hosts);
    for (std::size_t h = 0; h < hosts; ++h) {
      CHECK(shifts[h].is_known);
      CHECK(shifts[h].uncertainty >= 0);
      CHECK(shifts[h].uncertainty <= shortest);
      CHECK(std::abs(shifts[h].nanoseconds + wrong[h]) <= shifts[h].uncertainty + 1);
    }
  }
}

TEST_CASE("a host is aligned through another one, or said to be unknown", "[trace]") {
  clock_alignment clocks;
  // Hosts 0 and 2 meet host 1 only; the clock of 1 is 1000 ahead, that of 2 is 500 behind.
  clocks.add(0, {1, 1}, 100, 110);
  clocks.add(1, {1, 1}, 1102, 1111);
  clocks.add(1, {2, 1}, 1200, 1210);
  clocks.add(2, {2, 1}, -298, -290);
  const auto shifts = clocks.shifts(4);
  CHECK(shifts[1].is_known);
  CHECK(std::abs(shifts[1].nanoseconds + 1000) <= shifts[1].uncertainty);
  CHECK(shifts[2].is_known);
  CHECK(std::abs(shifts[2].nanoseconds - 500) <= shifts[2].uncertainty);
  CHECK(shifts[1].uncertainty <= shifts[2].uncertainty);
  CHECK_FALSE(shifts[3].is_known);
}

TEST_CASE("parts of several hosts become one trace on one clock", "[trace]") {
  const scratch_folder folder;
  const std::int64_t ahead = 5'000'000'000;
  std::vector<std::string> paths;
  for (const int rank : {0, 1}) {
    const std::int64_t shift = rank == 0 ? 0 : ahead;
    write(folder.file("00000009." + std::to_string(rank)),
          bytes_of(header_of(rank, 2, rank == 0 ? "one" : "two", 2),
                   {call_at(1000 + shift + rank, 2000 + shift, 1),
                    call_at(9000 + shift, 9100 + shift + rank, 2)}));
  }
  const auto held = chorale::detail::held_folder::named(folder.name());
  const auto made =
      chorale::transport::merge_trace(chorale::transport::parts_in(held), folder.file("run.json").string());
  CHECK(made.parts == 2);
  CHECK(made.records == 4);
  CHECK(made.open == 2);
  CHECK(made.hosts == std::vector<std::string>{"one", "two"});
  REQUIRE(made.remarks.size() == 1);
  CHECK(made.remarks[0].find("clock of host two: shifted by -50000000") == 0);
  // The times of the second host are those of the first, to the 100 ns that the shorter call took.
  const std::string text = read(folder.file("run.json"));
  CHECK(text.find(R"("pid":0,"tid":0,"ts":9.000,)") != std::string::npos);
  const auto there = text.find(R"("pid":1,"tid":0,"ts":)", text.find(R"("pid":1,"tid":0,"ts":)") + 1);
  REQUIRE(there != std::string::npos);
  CHECK(std::abs(std::stod(text.substr(there + 21)) - 9.0) <= 0.101);
}

TEST_CASE("window operations become slices", "[trace]") {
  using kind = trace_record::kind;
  trace_part part;
  part.header = header_of(1, 4, "one", 0);
  const auto add = [&](kind what, std::int32_t peer, std::uint64_t bytes) {
    trace_record r = call_at(1000, 1250, 0);
    r.what = what;
    r.peer = peer;
    r.bytes = bytes;
    part.records.push_back(r);
  };
  add(kind::put, 2, 24);
  add(kind::got, 0, 8);
  add(kind::updated, 3, 8);
  add(kind::flushed, 2, 0);
  add(kind::flushed, -1, 0);
  add(kind::notified, 2, 0);
  add(kind::awaited, -1, 0);
  std::string events;
  chorale::transport::write_events(part, 0, events);
  for (const std::string name :
       {"put to rank 2", "get from rank 0", "update of rank 3", "flush of rank 2", "flush of all ranks",
        "notification of rank 2", "wait for notifications of any rank"}) {
    CAPTURE(name, events);
    CHECK(events.find("{\"name\":\"" + name +
                      R"(","cat":"window","ph":"X","pid":1,"tid":0,"ts":1.000,"dur":0.250,"args":{)") !=
          std::string::npos);
  }
  CHECK(events.find(R"("args":{"bytes":24}})") != std::string::npos);
}

TEST_CASE("invalid parts of a trace are rejected, and truncated ones are read as far as possible",
          "[trace]") {
  const scratch_folder folder;
  const auto part = folder.file("00000009.0");
  const auto refused = [&](const std::string& text) {
    write(part, text);
    try {
      (void)read_part(part);
    } catch (const chorale::error& e) {
      return e.code() == chorale::errc::invalid_argument &&
             std::string{e.what()}.find("00000009.0") != std::string::npos;
    }
    return false;
  };
  const std::vector<trace_record> two{call_at(1, 2, 1), call_at(3, 4, 2)};
  const trace_header good = header_of(0, 2, "one", 2);
  CHECK_FALSE(refused(bytes_of(good, two)));
  CHECK(refused(""));
  CHECK(refused(std::string(100, 'x')));
  CHECK(refused(std::string(8000, 'x')));
  trace_header bad = good;
  bad.version = 99;
  CHECK(refused(bytes_of(bad, two)));
  bad = good;
  bad.owner.rank = 2;
  CHECK(refused(bytes_of(bad, two)));
  auto records = two;
  records[1].text = 1;
  CHECK(refused(bytes_of(good, records)));
  records = two;
  records[0].operation = 200;
  CHECK(refused(bytes_of(good, records)));
  records = two;
  records[0].what = trace_record::kind::text;
  records[0].bytes = ~std::uint64_t{0};
  CHECK(refused(bytes_of(good, records)));
  // Killed while writing: fewer records than in the header, or half a record.
  bad = good;
  bad.records = 1'000'000;
  write(part, bytes_of(bad, two) + std::string(13, '\1'));
  CHECK(read_part(part).records.size() == 2);
  // Any damage results in an error or a trace.
  std::mt19937_64 draw{support::seed()};
  CAPTURE(support::seed());
  for (int i = 0; i < 2000; ++i) {
    std::string text = bytes_of(good, two);
    for (int n = 0; n < 4; ++n) {
      const std::size_t at = draw() % 2 == 0 ? draw() % sizeof(trace_header) : draw() % text.size();
      text[at] = static_cast<char>(draw());
    }
    text.resize(draw() % 4 == 0 ? draw() % text.size() : text.size());
    write(part, text);
    try {
      std::string events;
      chorale::transport::write_events(read_part(part), 5, events);
    } catch (const chorale::error&) {
    }
  }
}

TEST_CASE("signals that interrupt the allocation of disk space lose nothing of a trace", "[trace]") {
  const scratch_folder folder;
  auto with = inprocess::settings();
  with.trace = folder.file("trace.json").string();
  interruptions = 5;
  inprocess::run_ranks<chorale::communicator<>>(1, with, [](auto& comm) {
    comm.barrier();
    // A mebibyte of records, then the next one.
    for (int i = 0; i < 22'000; ++i) {
      if (i == 21'000) interruptions = 5;
      comm.barrier();
    }
  });
  CHECK(interruptions <= 0);
  const std::string all = read(folder.file("trace.json"));
  CHECK(all.find("dropped") == std::string::npos);
  CHECK(all.find("\"call\":22001") != std::string::npos);
}
