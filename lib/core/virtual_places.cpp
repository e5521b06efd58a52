// SPDX-License-Identifier: Apache-2.0
#include "virtual_places.hpp"

#include <charconv>
#include <cstddef>
#include <numeric>

#include <fmt/format.h>

#include <chorale/core/error.hpp>

namespace chorale::detail {
namespace {

/// The positive number at the beginning of the text, which is removed; 0 if there is none.
int take_number(std::string_view& text) {
  int value = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || value <= 0 || value > virtual_places::most_ranks) return 0;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return value;
}

}  // namespace

std::optional<virtual_places> virtual_places::read(std::string_view text) {
  virtual_places read;
  const int first = take_number(text);
  if (first == 0) return std::nullopt;
  if (text.starts_with('x')) {
    text.remove_prefix(1);
    const int each = take_number(text);
    if (each == 0 || static_cast<long long>(first) * each > most_ranks) return std::nullopt;
    read.is_cyclic = text == "c";
    if (!text.empty() && !read.is_cyclic) return std::nullopt;
    read.sizes.assign(static_cast<std::size_t>(first), each);
    return read;
  }
  long long all = first;
  read.sizes.push_back(first);
  while (!text.empty()) {
    if (text.front() != ',') return std::nullopt;
    text.remove_prefix(1);
    const int next = take_number(text);
    all += next;
    if (next == 0 || all > most_ranks) return std::nullopt;
    read.sizes.push_back(next);
  }
  return read;
}

int virtual_places::ranks() const noexcept {
  return std::accumulate(sizes.begin(), sizes.end(), 0);
}

int virtual_places::of(int rank) const noexcept {
  const auto count = static_cast<int>(sizes.size());
  if (is_cyclic) return rank % count;
  int place = 0;
  while (rank >= sizes[static_cast<std::size_t>(place)]) rank -= sizes[static_cast<std::size_t>(place++)];
  return place;
}

std::uint64_t virtual_places::number(const std::string& layout, int rank, int size) {
  if (layout.empty()) return 1;
  const auto given = read(layout);
  if (!given || given->ranks() != size)
    throw error(
        errc::invalid_argument,
        fmt::format("config::places (CHORALE_PLACES) is '{}', a layout of {} ranks, but this group has "
                    "{}: give a layout of that many",
                    layout, given ? given->ranks() : 0, size));
  return 1 + static_cast<std::uint64_t>(given->of(rank));
}

}  // namespace chorale::detail
