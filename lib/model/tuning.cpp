// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <ios>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/core/fnv.hpp>
#include <chorale/model/tuning.hpp>

#include "../core/immortal.hpp"
#include "../core/over_forks.hpp"
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

tuning_table::tuning_table(const std::vector<measurement>& rows, std::string origin)
    : origin_(std::move(origin)), fingerprint_(detail::fnv_offset_basis) {
  const auto number_of = [this](const std::string& name) {
    const auto at = std::find(names_.begin(), names_.end(), name);
    const auto number = at - names_.begin();
    if (at == names_.end()) names_.push_back(name);
    if (number > std::numeric_limits<std::uint16_t>::max())
      throw error(errc::invalid_argument, origin_ + " names more than 65,536 algorithms");
    return static_cast<std::uint16_t>(number);
  };
  entries_.reserve(rows.size());
  for (const auto& r : rows) {
    fingerprint_ = mix(fingerprint_, r.transport);
    fingerprint_ = mix(fingerprint_, r.algorithm);
    fingerprint_ = mix(fingerprint_, fmt::format("{} {} {} {} {} {} {}", static_cast<int>(r.what), r.ranks,
                                                 r.crowded, r.bytes, r.microseconds, r.places, r.largest));
    entries_.push_back({r.microseconds, r.bytes, r.ranks, r.places, r.largest, number_of(r.transport),
                        number_of(r.algorithm), r.what, r.crowded});
  }
}

std::vector<measurement> tuning_table::rows() const {
  std::vector<measurement> all;
  for (const entry& e : entries_)
    all.push_back({e.what, names_[e.transport], e.ranks, e.crowded, e.bytes, names_[e.algorithm],
                   e.microseconds, e.places, e.largest});
  return all;
}

bool tuning_table::entry::is_beside(const entry& other) const noexcept {
  return what == other.what && transport == other.transport && crowded == other.crowded &&
         ranks == other.ranks && places == other.places && largest == other.largest;
}

/// A measurement on the group that is nearest to that of the situation; null if none is near.
const tuning_table::entry* tuning_table::nearest(const situation& s, std::string_view transport) const {
  const auto powers = [](int a, int b) { return std::abs(std::log2(static_cast<double>(a) / b)); };
  constexpr double twice = 1.01;
  const entry* found = nullptr;
  double least = 0;
  for (const entry& e : entries_) {
    if (e.what != s.what || e.crowded != s.crowded || e.has_levels() != s.has_levels() ||
        names_[e.transport] != transport)
      continue;
    const double places = s.has_levels() ? powers(e.places, s.places) : 0;
    const double ranks = s.has_levels() ? powers(e.largest, s.largest) : powers(e.ranks, s.ranks);
    if (places >= twice || ranks >= twice || (found != nullptr && places + ranks >= least)) continue;
    found = &e;
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

/// Like `about`, but without falling back from a group with levels to a flat one.
tuning_table::known tuning_table::about_like(const situation& s,
                                             std::span<const std::string> algorithms) const {
  known found;
  for (const std::string_view transport : {s.transport, std::string_view{"rc"}}) {
    const entry* const like = nearest(s, transport);
    if (like == nullptr) continue;
    for (const entry& e : entries_) {
      if (!e.is_beside(*like)) continue;
      const auto at = std::find(algorithms.begin(), algorithms.end(), names_[e.algorithm]);
      if (at != algorithms.end())
        found.by_size[e.bytes].push_back({static_cast<int>(at - algorithms.begin()), e.microseconds});
    }
    found.source = fmt::format("measured on {} ranks{} over {}{}, {}", like->ranks,
                               like->has_levels() ? fmt::format(" in {} places", like->places) : "",
                               transport, s.crowded ? " that share cores" : "", origin_);
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
    // Ranks that share cores wait for a core rather than for the device.
    std::ranges::copy_if(measurements_of(soft_rows()), std::back_inserter(rows), &measurement::crowded);
    return std::make_shared<const tuning_table>(rows, "the built-in table of a simulated cluster");
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

std::vector<measurement> measurements_of(std::string_view rows) {
  std::vector<measurement> all;
  std::istringstream lines{std::string{rows}};
  // Otherwise a lack of memory would look like the end of the stream, and rows would be missing.
  lines.exceptions(std::ios::badbit);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    words.exceptions(std::ios::badbit);
    std::string operation;
    measurement m;
    if (!(words >> operation >> m.transport >> m.ranks)) continue;
    if (words.peek() == '/') words.ignore() >> m.places;
    if (words.peek() == '/') words.ignore() >> m.largest;
    if (!(words >> m.crowded >> m.bytes)) continue;
    m.what = operation_named(operation);
    while (words >> m.algorithm >> m.microseconds) {
      // Restores the spaces of the type's name: "degree_k<15,flat>" is "degree_k<15, flat>".
      for (auto comma = m.algorithm.find(','); comma != std::string::npos;
           comma = m.algorithm.find(',', comma + 1))
        m.algorithm.insert(comma + 1, 1, ' ');
      all.push_back(m);
    }
  }
  return all;
}

}  // namespace chorale::model
