// SPDX-License-Identifier: Apache-2.0
#include "message_store.hpp"

#include <algorithm>

#include <chorale/core/copy_bytes.hpp>

namespace chorale::transport::reliable {

message_store::outcome message_store::put(int from, const packet& p, bool is_awaited) {
  waiting& w = from_.get(from);
  const std::uint64_t here = w.arrived - w.released;
  if (p.payload.size() > largest_ || here >= most_) return outcome::unexpected;
  if (here != 0 && !is_awaited && !pool_->has_room()) return outcome::no_room;
  if (w.ring == nullptr) [[unlikely]]
    w.ring = std::make_unique_for_overwrite<message[]>(mask_ + 1);
  std::byte* block = pool_->take();
  if (!p.payload.empty()) copy_bytes(block, p.payload.data(), p.payload.size());
  w.ring[w.arrived++ & mask_] = {block, static_cast<std::uint32_t>(p.payload.size()), p.header.call,
                                 p.header.signature};
  most_at_once_ = std::max(most_at_once_, here + 1);
  return outcome::kept;
}

}  // namespace chorale::transport::reliable
