#include "trace_part.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/call.hpp>
#include <chorale/core/error.hpp>

#include "../../core/printable.hpp"

namespace chorale::transport {
namespace {

struct closes {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

[[noreturn]] void refuse(const std::string& path, const char* why) {
  throw error(errc::invalid_argument,
              fmt::format("{} is no part of a trace: {}; remove it", printable(path), why));
}

/// 36 years in nanoseconds: small enough that sums of times cannot overflow.
constexpr std::int64_t latest = std::int64_t{1} << 60;

bool is_time(std::int64_t nanoseconds) noexcept {
  return nanoseconds >= 0 && nanoseconds < latest;
}

bool is_sound(const trace_record& r, std::size_t texts) noexcept {
  return is_time(r.begin) && is_time(r.run) && is_time(r.end) && r.what > trace_record::kind::text &&
         r.what <= trace_record::kind::awaited && r.text <= texts &&
         r.operation <= static_cast<std::uint8_t>(operation::exchange);
}

}  // namespace

std::string trace_folder(const std::string& file, std::uint32_t job) {
  return fmt::format("{}.{:08x}.parts", file, job);
}

trace_part read_trace_part(detail::unique_fd file, const std::string& path) {
  const std::unique_ptr<std::FILE, closes> from{::fdopen(file.get(), "r")};
  if (!from) throw_errno(errno, "fdopen", printable(path), "");
  file.release();
  const auto read = [&](void* to, std::size_t bytes) {
    return std::fread(to, 1, bytes, from.get()) == bytes;
  };
  trace_part part;
  trace_header& h = part.header;
  char page[trace_header::bytes];
  if (!read(page, sizeof page)) refuse(path, "it is too short");
  std::memcpy(&h, page, sizeof h);
  if (h.magic != trace_header::expected_magic) refuse(path, "it begins otherwise");
  if (h.version != trace_header::newest_version) refuse(path, "it is of another version of Chorale");
  if (h.owner.size < 1 || h.owner.rank < 0 || h.owner.rank >= h.owner.size)
    refuse(path, "there is no such rank");
  for (std::uint64_t left = h.records; left != 0; --left) {
    trace_record r;
    // Records that were not written before the rank was killed are zero or missing.
    if (!read(&r, sizeof r)) break;
    if (r.what != trace_record::kind::text) {
      if (!is_sound(r, part.texts.size())) refuse(path, "a record in it was damaged");
      part.records.push_back(r);
      continue;
    }
    const std::uint64_t rows = (r.bytes + sizeof r - 1) / sizeof r;
    if (r.bytes > 65536 || rows >= left) refuse(path, "a text in it was damaged");
    std::string text(rows * sizeof r, '\0');
    if (!read(text.data(), text.size())) break;
    text.resize(r.bytes);
    part.texts.push_back(std::move(text));
    left -= rows;
  }
  return part;
}

}  // namespace chorale::transport
