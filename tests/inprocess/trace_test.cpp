// SPDX-License-Identifier: Apache-2.0
// What a rank writes to its trace. tests/multirank/trace_test.py tests the merged traces.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <sys/uio.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "../../lib/transport/observers/call_trace.hpp"
#include "ranks.hpp"

namespace {

namespace fs = std::filesystem;

/// The number of allocations of disk space and writes that are still to be interrupted by a signal.
std::atomic<int> interruptions{0};
std::atomic<bool> disk_is_full{false};

/// The errno with which the next system call is to fail, or 0.
int fate() {
  if (interruptions.load() > 0 && interruptions.fetch_sub(1) > 0) return EINTR;
  return disk_is_full ? ENOSPC : 0;
}

}  // namespace

// These replace the system's functions in this program and the library.
extern "C" int posix_fallocate(int file, off_t begin, off_t bytes) {
  if (const int failure = fate(); failure != 0) return failure;
  return fallocate(file, 0, begin, bytes) == 0 ? 0 : errno;
}
extern "C" ssize_t pwrite(int file, const void* from, std::size_t bytes, off_t begin) {
  if ((errno = fate()) != 0) return -1;
  // Long writes are cut short, as the system may do.
  const iovec piece{const_cast<void*>(from), bytes > 10'000 ? bytes / 2 : bytes};
  return ::pwritev(file, &piece, 1, begin);
}

namespace {

class scratch_folder {
 public:
  scratch_folder() : path_(fs::temp_directory_path() / ("chorale-trace-" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directory(path_);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() { fs::remove_all(path_); }
  [[nodiscard]] std::string trace() const { return (path_ / "run.json").string(); }
  /// The text of the only file with that ending, or an empty one.
  [[nodiscard]] std::string text(const std::string& ending) const {
    std::string all;
    for (const auto& one : fs::recursive_directory_iterator(path_)) {
      if (one.path().extension() != ending || !one.path().parent_path().string().ends_with(".parts"))
        continue;
      std::ifstream file{one.path(), std::ios::binary};
      all.append(std::istreambuf_iterator<char>{file}, {});
    }
    return all;
  }
  /// The text that has not yet been moved to the file.
  [[nodiscard]] std::string tail() const {
    const std::string all = text(".tail");
    return all.empty() ? all : std::string{all.substr(21).c_str()};
  }

 private:
  fs::path path_;
};

std::size_t count(const std::string& text, const std::string& of) {
  std::size_t found = 0;
  for (auto at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++found;
  return found;
}

chorale::clock::time_point at(std::int64_t nanoseconds) {
  return chorale::clock::time_point{chorale::clock::duration{nanoseconds}};
}

/// A rank that reports made-up calls to its trace.
class made_up_rank {
 public:
  explicit made_up_rank(const scratch_folder& folder, std::size_t records = 1'000'000) {
    who_.number = 1;
    who_.group = 9;
    who_.job = 7;
    who_.rank = who_.home = 1;
    who_.size = 4;
    who_.host = "one";
    who_.transport = "rc";
    trace_.emplace(folder.trace(), records, who_);
    of().on_made(who_);
    call_.on = &who_;
    call_.what.what = chorale::operation::barrier;
  }
  [[nodiscard]] chorale::observer& of() { return *trace_; }
  void barrier(std::uint64_t number, std::int64_t begin, std::int64_t end) {
    call_.number = number;
    call_.begun = call_.run = at(begin);
    call_.over = at(end);
    of().on_end(call_);
  }
  /// Calls like the last one, after it.
  void passed(std::uint64_t calls) { of().on_passed(call_, calls); }
  void window(chorale::observed_event::kind what, int peer, std::uint64_t bytes) {
    of().on_event(
        {.what = what, .on = &who_, .peer = peer, .time = at(1250), .bytes = bytes, .begin = at(1000)});
  }
  void end() {
    of().on_ended(who_);
    trace_.reset();
  }
  chorale::observed_communicator who_;

 private:
  chorale::observed_call call_;
  std::optional<chorale::transport::call_trace> trace_;
};

}  // namespace

TEST_CASE("each record of a trace is in its files at once, and in one file at the end", "[trace]") {
  const scratch_folder folder;
  made_up_rank rank{folder};
  CHECK(folder.tail().starts_with("[\n{\"name\":\"chorale_job\""));
  // More than fits into the tail.
  std::uint64_t last = 0;
  while (folder.text(".json").empty() && last < 100'000) {
    for (int i = 0; i < 100; ++i, ++last) rank.barrier(last, 1000 + static_cast<std::int64_t>(last), 5000);
  }
  REQUIRE(last < 100'000);
  rank.barrier(last, 9'000'000, 9'000'123);
  const std::string all = folder.text(".json") + folder.tail();
  CHECK(std::stoul(folder.text(".tail").substr(0, 20)) == folder.text(".json").size());
  CHECK(count(all, "\"name\":\"barrier\"") == last + 1);
  CHECK(all.ends_with(
      R"(,
{"pid":1,"tid":1,"ts":9000.000,"ph":"X","dur":0.123,"cat":"call","name":"barrier","args":{"bytes":0,"call":)" +
      std::to_string(last) + "}}"));
  rank.who_.name = "a \"name\"";
  rank.end();
  CHECK(folder.text(".tail").empty());
  CHECK(folder.text(".json").starts_with(all));
  CHECK(folder.text(".json").ends_with("\n]\n"));
  CHECK(folder.text(".json").find(R"("name":"a \"name\", rank 1 of 4 over rc")") != std::string::npos);
}

TEST_CASE("times of a trace have all their digits", "[trace]") {
  const scratch_folder folder;
  made_up_rank rank{folder};
  for (const std::int64_t time :
       {0L, 7L, 999'999L, 1'000'000L, 1'000'001L, 1'999'999L, 1'234'567L, 54'321'098'765'432L})
    rank.barrier(1, time, time + time / 2);
  rank.barrier(2, 5, 3);
  for (const std::string times :
       {R"("ts":0.000,"ph":"X","dur":0.000)", R"("ts":0.007,"ph":"X","dur":0.003)",
        R"("ts":999.999,"ph":"X","dur":499.999)", R"("ts":1000.000,"ph":"X","dur":500.000)",
        R"("ts":1000.001,"ph":"X","dur":500.000)", R"("ts":1999.999,"ph":"X","dur":999.999)",
        R"("ts":1234.567,"ph":"X","dur":617.283)", R"("ts":54321098765.432,"ph":"X","dur":27160549382.716)",
        R"("ts":0.005,"ph":"X","dur":0.000)"}) {
    CAPTURE(times, folder.tail());
    CHECK(count(folder.tail(), times) == 1);
  }
}

TEST_CASE("calls that were passed are told by the next one that is alike, or by a mark", "[trace]") {
  const scratch_folder folder;
  made_up_rank rank{folder};
  rank.barrier(1, 1000, 2000);
  rank.passed(30);
  rank.barrier(32, 9000, 9500);
  rank.barrier(33, 9600, 9700);
  CHECK(folder.tail().ends_with(
      R"("name":"barrier","args":{"bytes":0,"call":32,"untimed":30}},
{"pid":1,"tid":1,"ts":9.600,"ph":"X","dur":0.100,"cat":"call","name":"barrier","args":{"bytes":0,"call":33}})"));
  rank.passed(5);
  rank.end();
  CHECK(folder.text(".json").find(
            R"("ts":9.700,"ph":"i","s":"t","cat":"event","name":"untimed: barrier","args":{"untimed":5}})") !=
        std::string::npos);
}

TEST_CASE("window operations become slices", "[trace]") {
  using kind = chorale::observed_event::kind;
  const scratch_folder folder;
  made_up_rank rank{folder};
  rank.window(kind::put, 2, 24);
  rank.window(kind::got, 0, 8);
  rank.window(kind::updated, 3, 8);
  rank.window(kind::flushed, 2, 0);
  rank.window(kind::flushed, -1, 0);
  rank.window(kind::notified, 2, 0);
  rank.window(kind::awaited, -1, 0);
  const std::string events = folder.tail();
  for (const std::string name :
       {"put to rank 2", "get from rank 0", "update of rank 3", "flush of rank 2", "flush of all ranks",
        "notification of rank 2", "wait for notifications of any rank"}) {
    CAPTURE(name, events);
    CHECK(events.find(R"({"pid":1,"tid":1,"ts":1.000,"ph":"X","dur":0.250,"cat":"window","name":")" + name +
                      R"(","args":{)") != std::string::npos);
  }
  CHECK(events.find(R"("args":{"bytes":24}})") != std::string::npos);
}

TEST_CASE("a trace whose disk is full loses what comes then, and says so", "[trace]") {
  const scratch_folder folder;
  disk_is_full = true;
  CHECK_THROWS_WITH(made_up_rank{folder}, Catch::Contains("make room on the disk"));
  disk_is_full = false;
  // The failed attempts leave no files; otherwise this rank could not be made.
  made_up_rank rank{folder};
  disk_is_full = true;
  for (std::uint64_t call = 1; call <= 10'000; ++call) rank.barrier(call, 1000, 2000);
  const std::size_t kept = count(folder.tail(), "\"name\":\"barrier\"");
  CHECK(kept > 1000);
  CHECK(kept < 10'000);
  CHECK(count(folder.tail(), "later records are dropped") == 1);
  CHECK(folder.text(".json").empty());
  disk_is_full = false;
  rank.barrier(10'001, 1000, 2000);
  disk_is_full = true;
  rank.end();
  disk_is_full = false;
  // What did not fit into the file at the end stays in the tail.
  const std::string all = folder.text(".json") + folder.tail();
  CHECK(count(all, "\"name\":\"barrier\"") == kept + 1);
  CHECK(all.find("\"call\":10001}}") != std::string::npos);
  CHECK(all.find("\"dropped\":" + std::to_string(10'000 - kept) + "}}") != std::string::npos);
  CHECK(all.ends_with("\n]\n"));
}

TEST_CASE("signals that interrupt calls of the system lose nothing of a trace", "[trace]") {
  const scratch_folder folder;
  auto with = inprocess::settings();
  with.trace = folder.trace();
  with.sampling = {};
  interruptions = 5;
  inprocess::run_ranks<chorale::communicator<>>(1, with, [](auto& comm) {
    // More than once what fits into the tail.
    for (int i = 0; i < 12'000; ++i) {
      if (i == 1'000) interruptions = 5;
      comm.barrier();
    }
  });
  CHECK(interruptions <= 0);
  const std::string all = folder.text(".json");
  CHECK(all.find("dropped") == std::string::npos);
  CHECK(count(all, "\"name\":\"barrier\"") == 12'000);
  CHECK(all.ends_with("\n]\n"));
}
