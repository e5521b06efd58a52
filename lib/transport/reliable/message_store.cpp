#include "message_store.hpp"

#include <algorithm>
#include <cstring>

namespace chorale::transport::reliable {

message_store::outcome message_store::put(int from, const packet& p, bool is_awaited) {
  auto& messages = from_[static_cast<std::size_t>(from)].messages;
  if (p.payload.size() > largest_ || messages.size() >= most_) return outcome::unexpected;
  if (!messages.empty() && !is_awaited && !pool_->has_room()) return outcome::no_room;
  std::byte* block = pool_->take();
  if (!p.payload.empty()) std::memcpy(block, p.payload.data(), p.payload.size());
  messages.push_back(
      {block, static_cast<std::uint32_t>(p.payload.size()), p.header.call, p.header.signature});
  most_at_once_ = std::max<std::uint64_t>(most_at_once_, messages.size());
  return outcome::kept;
}

void message_store::release(int from) noexcept {
  waiting& w = from_[static_cast<std::size_t>(from)];
  pool_->give_back(w.messages.front().block);
  w.messages.pop_front();
  --w.handed_out;
}

}  // namespace chorale::transport::reliable
