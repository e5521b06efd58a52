// SPDX-License-Identifier: Apache-2.0
// Relations between the events of an execution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace protocols {

/// A bit for each event.
using event_set = std::uint64_t;

/// A relation between at most 64 events: row i has a bit for each event that i is related to.
class order_relation {
 public:
  explicit order_relation(std::size_t events) : rows_(events) {}
  [[nodiscard]] std::size_t events() const { return rows_.size(); }
  void add(std::size_t from, std::size_t to) { rows_[from] |= event_set{1} << to; }
  [[nodiscard]] bool has(std::size_t from, std::size_t to) const { return (rows_[from] >> to & 1U) != 0; }
  [[nodiscard]] event_set after(std::size_t event) const { return rows_[event]; }

  order_relation& operator|=(const order_relation& other);
  friend order_relation operator|(order_relation a, const order_relation& b) { return a |= b; }
  friend order_relation operator&(order_relation a, const order_relation& b);
  /// Relates i to k if this relation leads from i to some j, and `next` from j to k.
  [[nodiscard]] order_relation then(const order_relation& next) const;
  [[nodiscard]] order_relation inverse() const;
  /// The transitive closure: any number of steps from 1.
  [[nodiscard]] order_relation closure() const;
  /// The same from 0 steps.
  [[nodiscard]] order_relation closure_or_same() const;
  [[nodiscard]] order_relation between(event_set from, event_set to) const;
  [[nodiscard]] bool is_irreflexive() const;
  [[nodiscard]] bool is_acyclic() const { return closure().is_irreflexive(); }
  [[nodiscard]] bool is_empty() const;
  friend bool operator==(const order_relation&, const order_relation&) = default;

 private:
  std::vector<event_set> rows_;
};

}  // namespace protocols
