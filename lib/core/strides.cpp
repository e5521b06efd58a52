// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/strides.hpp>

namespace chorale {
namespace {

/// Copies of `count` runs of a size that the compiler knows are single loads and stores.
template <std::size_t Bytes>
void copy_runs(std::byte* to, std::ptrdiff_t to_stride, const std::byte* from, std::ptrdiff_t from_stride,
               std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(to, from, Bytes);
    to += to_stride;
    from += from_stride;
  }
}
void copy_runs(std::byte* to, std::ptrdiff_t to_stride, const std::byte* from, std::ptrdiff_t from_stride,
               std::size_t count, std::size_t bytes) noexcept {
  switch (bytes) {
    case 1:
      return copy_runs<1>(to, to_stride, from, from_stride, count);
    case 2:
      return copy_runs<2>(to, to_stride, from, from_stride, count);
    case 4:
      return copy_runs<4>(to, to_stride, from, from_stride, count);
    case 8:
      return copy_runs<8>(to, to_stride, from, from_stride, count);
    case 16:
      return copy_runs<16>(to, to_stride, from, from_stride, count);
    case 24:
      return copy_runs<24>(to, to_stride, from, from_stride, count);
    case 32:
      return copy_runs<32>(to, to_stride, from, from_stride, count);
    default:
      break;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(to, from, bytes);
    to += to_stride;
    from += from_stride;
  }
}

[[noreturn]] void throw_overflow() {
  throw error(errc::invalid_argument, "an operand with strides has more bytes than memory has");
}
std::size_t product(std::size_t a, std::size_t b) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  if (b != 0 && a > most / b) throw_overflow();
  return a * b;
}
std::size_t magnitude(std::ptrdiff_t stride) noexcept {
  return stride < 0 ? std::size_t{0} - static_cast<std::size_t>(stride) : static_cast<std::size_t>(stride);
}
std::ptrdiff_t scaled(std::ptrdiff_t stride, std::size_t by) {
  const auto bytes = static_cast<std::ptrdiff_t>(product(magnitude(stride), by));
  return stride < 0 ? -bytes : bytes;
}

}  // namespace

strides::strides(std::span<const steps> loops, std::size_t block, std::size_t one) {
  if (detail::bytes_of_steps(loops, block, one) == 0) return;
  run_ = block * one;
  // From the inside out, so that each loop can be merged with the result of merging the inner ones.
  std::array<loop, most_dimensions> kept{};
  std::uint32_t count = 0;
  for (std::size_t i = loops.size(); i-- > 0;) {
    if (loops[i].count == 1) continue;
    const loop next{loops[i].count, scaled(loops[i].stride, one)};
    static_cast<void>(product(magnitude(next.stride), next.count));
    if (count == 0 && next.stride == static_cast<std::ptrdiff_t>(run_)) {
      run_ *= next.count;
    } else if (count != 0 &&
               next.stride == kept[count - 1].stride * static_cast<std::ptrdiff_t>(kept[count - 1].count)) {
      kept[count - 1].count *= next.count;
    } else if (count == most_dimensions) {
      throw error(errc::invalid_argument,
                  fmt::format("an operand has strides in more than {} dimensions", most_dimensions));
    } else {
      kept[count++] = next;
    }
  }
  depth_ = count;
  for (std::uint32_t i = 0; i < most_dimensions; ++i) loops_[i] = i < count ? kept[count - 1 - i] : loop{};
}

bool strides::is_disjoint() const noexcept {
  if (is_contiguous()) return true;
  std::array<loop, most_dimensions> sorted = loops_;
  std::sort(sorted.begin(), sorted.end(),
            [](const loop& a, const loop& b) { return magnitude(a.stride) < magnitude(b.stride); });
  std::size_t inside = run_;
  for (const loop& one : sorted) {
    if (one.count == 0) continue;  // an unused entry, beyond the depth
    if (magnitude(one.stride) < inside) return false;
    inside += magnitude(one.stride) * (one.count - 1);
  }
  return true;
}

std::pair<std::ptrdiff_t, std::ptrdiff_t> strides::range(std::size_t bytes) const noexcept {
  if (is_contiguous()) return {0, static_cast<std::ptrdiff_t>(bytes)};
  std::ptrdiff_t first = 0;
  std::ptrdiff_t last = static_cast<std::ptrdiff_t>(run_);
  for (std::uint32_t i = 0; i < depth_; ++i)
    (loops_[i].stride < 0 ? first : last) +=
        loops_[i].stride * static_cast<std::ptrdiff_t>(loops_[i].count - 1);
  return {first, last};
}

/// Calls `use(offset, stride, runs, bytes)` for each row of equal runs in packed bytes [at, at + count).
template <class Use>
void strides::each_row(std::size_t at, std::size_t count, const Use& use) const noexcept {
  const std::uint32_t inner = depth_ - 1;
  std::array<std::size_t, most_dimensions> step{};
  std::size_t index = at / run_;
  std::size_t within = at % run_;
  std::ptrdiff_t offset = 0;
  for (std::uint32_t i = depth_; i-- > 0;) {
    step[i] = index % loops_[i].count;
    index /= loops_[i].count;
    offset += static_cast<std::ptrdiff_t>(step[i]) * loops_[i].stride;
  }
  const auto advance = [&](std::size_t runs) {
    step[inner] += runs;
    offset += static_cast<std::ptrdiff_t>(runs) * loops_[inner].stride;
    for (std::uint32_t i = inner; i > 0 && step[i] == loops_[i].count; --i) {
      step[i] = 0;
      ++step[i - 1];
      offset += loops_[i - 1].stride - static_cast<std::ptrdiff_t>(loops_[i].count) * loops_[i].stride;
    }
  };
  while (count > 0) {
    if (within != 0 || count < run_) {
      const std::size_t part = std::min(run_ - within, count);
      use(offset + static_cast<std::ptrdiff_t>(within), std::ptrdiff_t{0}, std::size_t{1}, part);
      count -= part;
      within += part;
      if (within < run_) return;
      within = 0;
      advance(1);
    } else {
      const std::size_t runs = std::min(loops_[inner].count - step[inner], count / run_);
      use(offset, loops_[inner].stride, runs, run_);
      count -= runs * run_;
      advance(runs);
    }
  }
}

void strides::pack(const std::byte* first, std::size_t at, std::span<std::byte> to) const noexcept {
  if (to.empty()) return;
  std::byte* next = to.data();
  if (is_contiguous())
    std::memcpy(next, first + at, to.size());
  else
    each_row(at, to.size(),
             [&](std::ptrdiff_t offset, std::ptrdiff_t stride, std::size_t runs, std::size_t bytes) {
               copy_runs(next, static_cast<std::ptrdiff_t>(bytes), first + offset, stride, runs, bytes);
               next += runs * bytes;
             });
  clock::copied(to.data(), first, to.size());
}

void strides::unpack(std::byte* first, std::size_t at, std::span<const std::byte> from) const noexcept {
  if (from.empty()) return;
  const std::byte* next = from.data();
  if (is_contiguous())
    std::memcpy(first + at, next, from.size());
  else
    each_row(at, from.size(),
             [&](std::ptrdiff_t offset, std::ptrdiff_t stride, std::size_t runs, std::size_t bytes) {
               copy_runs(first + offset, stride, next, static_cast<std::ptrdiff_t>(bytes), runs, bytes);
               next += runs * bytes;
             });
  clock::copied(first, from.data(), from.size());
}

namespace detail {

std::size_t bytes_of_steps(std::span<const steps> loops, std::size_t block, std::size_t one) {
  // A loop of no steps makes the whole empty, however large the others are.
  if (std::any_of(loops.begin(), loops.end(), [](const steps& s) { return s.count == 0; })) return 0;
  std::size_t bytes = product(block, one);
  for (const steps& s : loops) bytes = product(bytes, s.count);
  return bytes;
}

void check_strides_fit(const strides& where, std::size_t bytes, std::size_t room) {
  if (bytes == 0) return;
  const auto [first, last] = where.range(bytes);
  if (first < 0 || static_cast<std::size_t>(last) > room)
    throw error(errc::invalid_argument,
                fmt::format("an operand with strides uses bytes {} to {} of a range of {} bytes; if strides "
                            "are negative, give a pointer to the first element",
                            first, last - 1, room));
}

void check_strides_receive(const strides& where) {
  if (!where.is_disjoint())
    throw error(
        errc::invalid_argument,
        "the blocks of an operand with strides that is to receive overlap, or are so interleaved that "
        "they may: each stride has to step over all that the smaller ones contain");
}

}  // namespace detail
}  // namespace chorale
