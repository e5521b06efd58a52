// SPDX-License-Identifier: Apache-2.0
// Shared by all topics: connected queue pairs, requests built step by step, completions.
#pragma once

#include <span>
#include <vector>

#include <chorale/verbs/address_handle.hpp>

#include "../../../lib/verbs/text.hpp"
#include "../support.hpp"
#include "report.hpp"

namespace conformance {

using namespace chorale::verbs;
using namespace std::chrono_literals;
using test::all_access;
using test::rig;

/// How long the tests wait to see that nothing happens: too short would miss a fault, but never report a
/// false one.
constexpr std::chrono::milliseconds quiet{20};
/// Offset of the peer's memory in `rig::buffer`; the requester uses the part before.
constexpr std::size_t remote = 32 * 1024;

/// A send request with its gather list. Signalled with wr_id 1 unless said otherwise.
class work {
 public:
  explicit work(ibv_wr_opcode opcode, std::vector<ibv_sge> pieces = {});
  work& id(std::uint64_t value);
  work& flags(unsigned value);  ///< instead of IBV_SEND_SIGNALED
  work& at(std::uint64_t address, std::uint32_t rkey);
  work& immediate(std::uint32_t value);  ///< host byte order
  work& operands(std::uint64_t compare_or_add, std::uint64_t swap = 0);
  work& to(const address_handle& way, std::uint32_t qpn, std::uint32_t qkey = test::qkey);
  /// The errno of ibv_post_send; 0 for success.
  [[nodiscard]] int try_post(queue_pair& pair);
  /// Fails the test unless it can be posted.
  void post(queue_pair& pair);

 private:
  std::vector<ibv_sge> pieces_;
  ibv_send_wr request_{};
};

[[nodiscard]] int try_receive(queue_pair& pair, std::uint64_t id, std::vector<ibv_sge> pieces = {});
[[nodiscard]] int try_receive(shared_receive_queue& queue, std::uint64_t id,
                              std::vector<ibv_sge> pieces = {});
void receive(queue_pair& pair, std::uint64_t id, std::vector<ibv_sge> pieces = {});
void receive(shared_receive_queue& queue, std::uint64_t id, std::vector<ibv_sge> pieces = {});

/// The next completion; fails the test after half a minute.
ibv_wc next(completion_queue& queue);
/// The next completion, which must be a success.
ibv_wc good(completion_queue& queue);
/// Waits until the state is `wanted`; returns the state, after a minute at the latest.
ibv_qp_state settled(const queue_pair& pair, ibv_qp_state wanted);
/// The completions that are there or follow within `quiet` of each other.
std::vector<ibv_wc> all_of(completion_queue& queue);

struct joined_options {
  ibv_qp_type type = IBV_QPT_RC;
  int access = all_access;     ///< the access that each end allows the other
  connection left{}, right{};  ///< numbers and paths are filled in; `path_mtu` where it is not 0
  int mtu = 0;                 ///< bytes; 0: the port's
  std::uint32_t send_depth = 16;
  std::uint32_t recv_depth = 16;
  std::uint32_t sges = 4;
  std::uint32_t inline_bytes = 64;
  int entries = 128;  ///< of the completion queues
  bool signal_all = false;
  shared_receive_queue* srq = nullptr;    ///< of the right one
  completion_channel* channel = nullptr;  ///< of the right one's completions
};

/// Two connected queue pairs of this process: `left` is the requester, `right` the responder.
struct joined {
  explicit joined(rig& r, joined_options options = {});

  /// Attributes of `from` for the path to `to`.
  static connection details(const rig& r, const queue_pair& to, connection wanted, int mtu = 0);

  completion_queue sends;     ///< of `left`
  completion_queue arrivals;  ///< of `right`
  queue_pair left, right;
};

/// Address of an offset in `rig::buffer`.
std::uint64_t address(const rig& r, std::size_t offset);
/// A request on `bytes` from `offset` for the peer's memory at `remote`, with its rkey.
work rdma(const rig& r, ibv_wr_opcode opcode, std::size_t offset, std::uint32_t bytes,
          std::size_t target = remote);
/// Pseudo-random bytes of `seed`.
void fill(std::span<std::byte> memory, unsigned seed);

}  // namespace conformance
