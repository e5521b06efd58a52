// The file in which one rank stores the trace of one communicator until all are merged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../../core/unique_fd.hpp"

namespace chorale::transport {

/// The owner of a part. Texts are null-terminated.
struct trace_owner {
  std::uint32_t job = 0;
  std::uint32_t group = 0;
  std::uint32_t number = 0;  ///< number of the communicator in its process
  std::int32_t rank = 0;
  std::int32_t size = 0;
  std::int32_t home = 0;  ///< this rank's number in the first communicator of its thread
  std::uint32_t process = 0;
  char host[64] = {};
  char transport[32] = {};
  char device[32] = {};
  char name[64] = {};
};

/// Precedes the records of a part. Readers validate all of it.
struct trace_header {
  static constexpr std::uint64_t expected_magic = 0x6563617254726843ULL;  // "ChrTrace" in memory
  static constexpr std::uint32_t newest_version = 2;
  /// Offset of the records, so that they are page-aligned.
  static constexpr std::size_t bytes = 4096;

  std::uint64_t magic = expected_magic;
  std::uint32_t version = newest_version;
  std::uint32_t is_closed = 0;
  std::uint64_t records = 0;  ///< number of complete records
  std::uint64_t dropped = 0;  ///< number of records that did not fit
  /// Creation time of the part by the clock of the file system.
  std::int64_t began_seconds = 0;
  std::int64_t began_nanoseconds = 0;
  trace_owner owner;
};
static_assert(sizeof(trace_header) <= trace_header::bytes && std::is_trivially_copyable_v<trace_header>);

/// A call, wait or event; or a text, whose bytes follow in the next records. Times are in nanoseconds of the
/// rank's clock.
struct trace_record {
  enum class kind : std::uint8_t {
    text = 1,
    call,
    wait,
    connected,
    disconnected,
    chosen,
    // Window operations.
    put,
    got,
    updated,
    flushed,
    notified,
    awaited
  };
  static constexpr std::uint8_t is_nonblocking = 1;
  static constexpr std::uint8_t has_failed = 2;
  /// `peer` for a wait for any rank, a flush to all ranks, and a call without a root.
  static constexpr std::int32_t nobody = -1;

  std::int64_t begin = 0;
  std::int64_t run = 0;
  std::int64_t end = 0;
  std::uint64_t bytes = 0;   ///< `call::bytes` of a call; bytes put, got or updated; length of a text
  std::uint32_t number = 0;  ///< number of the call
  std::int32_t peer = nobody;
  std::uint16_t text = 0;    ///< number of an earlier text, from 1; 0: none
  std::uint16_t resent = 0;  ///< at most 65535
  kind what = kind::call;
  std::uint8_t operation = 0;
  std::uint8_t flags = 0;
  std::uint8_t unused = 0;
};
static_assert(sizeof(trace_record) == 48 && std::is_trivially_copyable_v<trace_record>);

/// A part that was read.
struct trace_part {
  trace_header header;
  std::vector<std::string> texts;     ///< text number n at index n - 1
  std::vector<trace_record> records;  ///< without the texts
};

/// Reads an open file; `path` is what errors call it. @throws error naming the file if it is not a valid
/// part.
[[nodiscard]] trace_part read_trace_part(detail::unique_fd file, const std::string& path);

/// The folder of the parts of the trace in `file` for a job.
[[nodiscard]] std::string trace_folder(const std::string& file, std::uint32_t job);

/// The text of a header field, which may lack its terminator.
template <std::size_t Size>
[[nodiscard]] std::string_view text_of(const char (&member)[Size]) noexcept {
  const std::string_view all{member, Size};
  return all.substr(0, all.find('\0'));
}

}  // namespace chorale::transport
