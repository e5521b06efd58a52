// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/core/fnv.hpp>
#include <chorale/model/tuning.hpp>

#include "../core/hold_over_forks.hpp"
#include "../core/immortal.hpp"
#include "built_in.hpp"
#include "candidates.hpp"
#include "cost.hpp"

namespace chorale::model {
namespace {

constinit std::mutex tables_lock;

[[gnu::constructor]] void hold_tables_over_forks() noexcept {
  detail::hold_over_forks<tables_lock>();
}

std::uint64_t mix(std::uint64_t h, std::string_view text) {
  return detail::fnv1a(text, h) * 0x9e3779b97f4a7c15ULL;
}

bool has_levels(const measurement& m) noexcept {
  return m.places > 1 && m.largest > 1;
}

bool is_of_same_group(const measurement& a, const measurement& b) noexcept {
  return a.what == b.what && a.transport == b.transport && a.crowded == b.crowded && a.ranks == b.ranks &&
         a.places == b.places && a.largest == b.largest;
}

/// One rule for each size; equal neighbours are then merged. The border between two sizes is their geometric
/// mean.
std::vector<rule> rules_from(const std::map<std::size_t, std::vector<candidate>>& by_size,
                             std::span<const std::string> names, const std::string& source) {
  std::vector<rule> found;
  for (auto at = by_size.begin(); at != by_size.end(); ++at) {
    const int best = fastest(at->second).algorithm;
    const auto next = std::next(at);
    const std::size_t up_to =
        next == by_size.end()
            ? no_limit
            : static_cast<std::size_t>(std::sqrt(static_cast<double>(std::max<std::size_t>(1, at->first))) *
                                       std::sqrt(static_cast<double>(next->first)));
    const std::string why = reason(at->second, at->first, names, source, "not measured");
    if (!found.empty() && found.back().algorithm == best)
      found.back().up_to = up_to;
    else
      found.push_back({up_to, best, why});
  }
  return found;
}

}  // namespace

tuning_table::tuning_table(std::vector<measurement> rows, std::string origin)
    : rows_(std::move(rows)), origin_(std::move(origin)), fingerprint_(detail::fnv_offset_basis) {
  for (const auto& r : rows_) {
    fingerprint_ = mix(fingerprint_, r.transport);
    fingerprint_ = mix(fingerprint_, r.algorithm);
    fingerprint_ = mix(fingerprint_, fmt::format("{} {} {} {} {} {} {}", static_cast<int>(r.what), r.ranks,
                                                 r.crowded, r.bytes, r.microseconds, r.places, r.largest));
  }
}

/// A measurement on the group that is nearest to that of the situation; null if none is near.
const measurement* tuning_table::nearest(const situation& s, std::string_view transport) const {
  const auto powers = [](int a, int b) { return std::abs(std::log2(static_cast<double>(a) / b)); };
  constexpr double twice = 1.01;
  const measurement* found = nullptr;
  double least = 0;
  for (const auto& r : rows_) {
    if (r.what != s.what || r.transport != transport || r.crowded != s.crowded ||
        has_levels(r) != s.has_levels())
      continue;
    const double places = s.has_levels() ? powers(r.places, s.places) : 0;
    const double ranks = s.has_levels() ? powers(r.largest, s.largest) : powers(r.ranks, s.ranks);
    if (places >= twice || ranks >= twice || (found != nullptr && places + ranks >= least)) continue;
    found = &r;
    least = places + ranks;
  }
  return found;
}

/// The measurements for a situation, by size, and their source.
struct tuning_table::known {
  std::map<std::size_t, std::vector<candidate>> by_size;
  std::string source;
};

tuning_table::known tuning_table::about(const situation& s, std::span<const std::string> algorithms) const {
  known found = about_like(s, algorithms);
  if (!found.by_size.empty() || !s.has_levels()) return found;
  situation flat = s;
  flat.places = flat.largest = 1;
  return about_like(flat, algorithms);
}

/// The same, only of groups that have levels if that of `s` has.
tuning_table::known tuning_table::about_like(const situation& s,
                                             std::span<const std::string> algorithms) const {
  known found;
  for (const std::string_view transport : {s.transport, std::string_view{"rc"}}) {
    const measurement* const like = nearest(s, transport);
    if (like == nullptr) continue;
    for (const auto& r : rows_) {
      if (!is_of_same_group(r, *like)) continue;
      const auto at = std::find(algorithms.begin(), algorithms.end(), r.algorithm);
      if (at != algorithms.end())
        found.by_size[r.bytes].push_back({static_cast<int>(at - algorithms.begin()), r.microseconds});
    }
    found.source = fmt::format("measured on {} ranks{} over {}{}, {}", like->ranks,
                               has_levels(*like) ? fmt::format(" in {} places", like->places) : "", transport,
                               s.crowded ? " that share cores" : "", origin_);
    if (!found.by_size.empty()) break;
  }
  return found;
}

std::vector<rule> tuning_table::rules(const situation& s, std::span<const std::string> algorithms) const {
  if (algorithms.size() == 1) return {{no_limit, 0, "it is the only one"}};
  const known measured = about(s, algorithms);
  if (!measured.by_size.empty()) return rules_from(measured.by_size, algorithms, measured.source);
  auto found = rules_by_formula(s.what, s.ranks, algorithms);
  if (found.empty()) return {{no_limit, 0, "nothing is known of any, so the first"}};
  return found;
}

std::vector<int> tuning_table::contenders(const situation& s, std::span<const std::string> algorithms,
                                          std::size_t bytes, double factor, std::size_t most) const {
  auto by_size = about(s, algorithms).by_size;
  const bool is_measured = !by_size.empty();
  if (!is_measured) {
    for (std::size_t i = 0; i < algorithms.size(); ++i)
      if (const auto us = estimate(s.what, algorithms[i], s.ranks, bytes, message_cost{}))
        by_size[bytes].push_back({static_cast<int>(i), *us});
  }
  const bool tries_unknown = is_measured || by_size.empty();
  // For each algorithm its time relative to the best, at the measured size nearest to `bytes`.
  const auto distance = [bytes](std::size_t at) {
    return std::abs(std::log2(static_cast<double>(at) + 1) - std::log2(static_cast<double>(bytes) + 1));
  };
  constexpr double no_share = std::numeric_limits<double>::infinity();
  std::vector<candidate> share(algorithms.size());
  for (std::size_t i = 0; i < share.size(); ++i) {
    share[i] = {static_cast<int>(i), tries_unknown ? 0 : no_share};
    double nearest = no_share;
    for (const auto& [size, all] : by_size) {
      const double best = fastest(all).microseconds;
      for (const candidate& c : all)
        if (c.algorithm == share[i].algorithm && distance(size) < nearest) {
          nearest = distance(size);
          // Rounded, so that differently compiled libraries agree.
          share[i].microseconds = std::round(c.microseconds / best * 256) / 256;
        }
    }
  }
  std::ranges::stable_sort(share, {}, &candidate::microseconds);
  std::vector<int> found;
  for (const candidate& c : share)
    if (c.microseconds <= factor && found.size() < most) found.push_back(c.algorithm);
  return found;
}

std::shared_ptr<const tuning_table> tuning_table::built_in(bool for_adapters) {
  if (!for_adapters) {
    static detail::immortal<std::shared_ptr<const tuning_table>> table{
        std::make_shared<const tuning_table>(measurements_of(soft_rows()), "the built-in table")};
    return *table;
  }
  static detail::immortal<std::shared_ptr<const tuning_table>> table{[] {
    auto rows = measurements_of(simulated_rows());
    // Ranks that share cores wait for these rather than for the device.
    std::ranges::copy_if(measurements_of(soft_rows()), std::back_inserter(rows), &measurement::crowded);
    return std::make_shared<const tuning_table>(std::move(rows), "the built-in table of a simulated cluster");
  }()};
  return *table;
}

std::shared_ptr<const tuning_table> tuning_table::of(const config& settings, bool for_adapters) {
  if (settings.tuning.empty()) return built_in(for_adapters);
  static detail::immortal<std::map<std::string, std::shared_ptr<const tuning_table>>> known;
  const std::lock_guard lock(tables_lock);
  auto& table = (*known)[settings.tuning];
  if (!table) table = read(settings.tuning);
  return table;
}

operation operation_named(std::string_view text) noexcept {
  for (int i = 1; i <= static_cast<int>(operation::window); ++i) {
    if (text == name(static_cast<operation>(i))) return static_cast<operation>(i);
  }
  return operation::none;
}

}  // namespace chorale::model
