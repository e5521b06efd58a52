// Memory operations emulated over datagrams: the semantics of RDMA without connections.
#pragma once

#include <chorale/transport/reliable/emulated_calls.hpp>
#include <chorale/transport/ud.hpp>

namespace chorale::transport {

/// As `ud`, and with the one-sided and atomic operations of `rc`, so that every algorithm written for memory
/// semantics runs on it unchanged. A write carries address, key and bytes in packets of one MTU, and is
/// placed when the target next looks; a read is a request that the target's service thread answers, woken by
/// a solicited event or polling (config::service). Memory and queue pairs do not grow with the number of
/// peers. Cost: each byte is copied twice; a read of a rank that computes wakes a thread there. Source: P5
/// section 4.2. Unlike there each access is checked at the target.
class ud_rdma final : public datagrams,
                      public mailbox_calls<ud_rdma, int>,
                      public reliable::emulated_calls<ud_rdma> {
 public:
  static constexpr const char* name = "ud_rdma";

  /// Collective over `group`. @throws error if there is no usable device or the ranks do not fit together.
  template <bootstrap::group G>
  ud_rdma(G& group, const config& settings)
      : ud_rdma(join(view_of(group, settings), plan(group.size(), settings))) {}
  explicit ud_rdma(joined_group&& group) : datagrams(std::move(group)) {}
  [[nodiscard]] static joining_plan plan(int ranks, const config& settings) {
    return datagrams::plan(name, ranks, settings);
  }

  [[nodiscard]] std::size_t zero_copy_bytes() const noexcept { return settings().zero_copy_bytes; }

 private:
  friend class mailbox_calls<ud_rdma, int>;
};

}  // namespace chorale::transport

static_assert(chorale::window_transport<chorale::transport::ud_rdma>);
