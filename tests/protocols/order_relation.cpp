// SPDX-License-Identifier: Apache-2.0
#include "order_relation.hpp"

#include <algorithm>

namespace protocols {

order_relation& order_relation::operator|=(const order_relation& other) {
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] |= other.rows_[i];
  return *this;
}

order_relation operator&(order_relation a, const order_relation& b) {
  for (std::size_t i = 0; i < a.rows_.size(); ++i) a.rows_[i] &= b.rows_[i];
  return a;
}

order_relation order_relation::then(const order_relation& next) const {
  order_relation out(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i)
    for (std::size_t j = 0; j < rows_.size(); ++j)
      if (has(i, j)) out.rows_[i] |= next.rows_[j];
  return out;
}

order_relation order_relation::inverse() const {
  order_relation out(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i)
    for (std::size_t j = 0; j < rows_.size(); ++j)
      if (has(i, j)) out.add(j, i);
  return out;
}

order_relation order_relation::closure() const {
  order_relation out = *this;
  for (std::size_t via = 0; via < rows_.size(); ++via)
    for (event_set& row : out.rows_)
      if ((row >> via & 1U) != 0) row |= out.rows_[via];
  return out;
}

order_relation order_relation::closure_or_same() const {
  order_relation out = closure();
  for (std::size_t i = 0; i < rows_.size(); ++i) out.add(i, i);
  return out;
}

order_relation order_relation::between(event_set from, event_set to) const {
  order_relation out(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if ((from >> i & 1U) != 0) out.rows_[i] = rows_[i] & to;
  return out;
}

bool order_relation::is_irreflexive() const {
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (has(i, i)) return false;
  return true;
}

bool order_relation::is_empty() const {
  return std::all_of(rows_.begin(), rows_.end(), [](event_set row) { return row == 0; });
}

}  // namespace protocols
