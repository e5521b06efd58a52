// SPDX-License-Identifier: Apache-2.0
// Queue pair: a send and a receive queue, and its transitions from RESET to ready-to-send.
#pragma once

#include <cstdint>

#include <chorale/verbs/address.hpp>
#include <chorale/verbs/completion_queue.hpp>
#include <chorale/verbs/handle.hpp>
#include <chorale/verbs/protection_domain.hpp>
#include <chorale/verbs/shared_receive_queue.hpp>

namespace chorale::verbs {

/// Options of a queue pair. Both completion queues are required (they may be the same) and must outlive it.
struct queue_pair_options {
  ibv_qp_type type = IBV_QPT_RC;        ///< RC, UC or UD
  completion_queue* send = nullptr;     ///< completions of send requests
  completion_queue* recv = nullptr;     ///< completions of receive requests
  shared_receive_queue* srq = nullptr;  ///< if set, receives are taken from here and `recv_depth` is ignored
  std::uint32_t send_depth = 64;        ///< maximum of outstanding send requests
  std::uint32_t recv_depth = 64;        ///< maximum of outstanding receive requests
  std::uint32_t send_sges = 1;          ///< gather entries per send request
  std::uint32_t recv_sges = 1;          ///< scatter entries per receive request
  std::uint32_t inline_bytes = 0;       ///< maximum size of IBV_SEND_INLINE data
  bool signal_all = false;              ///< every send generates a completion, not only signalled ones
};

/// RESET to INIT. RC and UC use `access`; UD uses `qkey`.
struct init_options {
  std::uint8_t port = 1;
  std::uint16_t pkey_index = 0;
  int access = 0;          ///< IBV_ACCESS_REMOTE_*: operations that the peer may do
  std::uint32_t qkey = 0;  ///< the Q_Key required of senders
};

/// The peer of a connected queue pair (RC, UC) and the path to it. UC uses path, MTU and numbers only.
struct connection {
  std::uint32_t remote_qp = 0;
  std::uint32_t remote_psn = 0;  ///< 24 bits: the peer's initial packet sequence number
  std::uint32_t local_psn = 0;   ///< 24 bits: the local initial packet sequence number
  ibv_mtu path_mtu = IBV_MTU_1024;
  ibv_ah_attr path{};                   ///< see `path_to`
  std::uint8_t max_rd_atomic = 1;       ///< maximum of outstanding reads and atomics from here
  std::uint8_t max_dest_rd_atomic = 1;  ///< maximum of outstanding reads and atomics from the peer
  std::uint8_t min_rnr_timer = 12;  ///< code of the wait of a sender that has found no receive (12: 0.64 ms)
  std::uint8_t timeout = 14;        ///< 4.096 us * 2^timeout; 0: infinite
  std::uint8_t retry = 7;           ///< 0 to 7
  std::uint8_t rnr_retry = 7;       ///< 0 to 7; 7: infinite
};

/// Owns an ibv_qp. Thread safety: as in verbs, several threads may post; all other members: one thread at a
/// time.
class queue_pair {
 public:
  /// @throws error errc::invalid_argument if a queue is missing; a system error naming the device limit that
  /// was exceeded.
  queue_pair(const protection_domain& domain, const queue_pair_options& options);

  [[nodiscard]] ibv_qp* native() const noexcept { return handle_.get(); }
  [[nodiscard]] const driver& provider() const noexcept { return handle_.provider(); }
  /// The number that peers address; remains available after `close()`.
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] ibv_qp_type type() const noexcept { return type_; }
  /// The values that the device granted, at least those requested.
  [[nodiscard]] std::uint32_t inline_bytes() const noexcept { return granted_.max_inline_data; }
  [[nodiscard]] std::uint32_t send_depth() const noexcept { return granted_.max_send_wr; }
  [[nodiscard]] std::uint32_t recv_depth() const noexcept { return granted_.max_recv_wr; }
  [[nodiscard]] ibv_qp_state state() const;

  /// The state transitions. @throws error naming the current state, the requested one and the likely cause.
  void to_init(const init_options& options);
  void to_ready_to_receive(const connection& peer);  ///< RC, UC
  void to_ready_to_receive();                        ///< UD
  void to_ready_to_send(const connection& peer);     ///< RC, UC
  void to_ready_to_send(std::uint32_t psn);          ///< UD
  void to_error();  ///< outstanding requests complete with IBV_WC_WR_FLUSH_ERR
  void to_reset();  ///< outstanding requests are discarded without completions

  /// The number of bytes of one RDMA write *into this queue pair*, from a multiple of 128 on, that become
  /// visible in address order, so that a poller that sees the last of them sees all: the maximum of the type,
  /// 128, or 0. Says nothing about the order between requests.
  [[nodiscard]] std::size_t bytes_in_order() const;

  /// Posts a chain of send requests. @throws error with errno, QP number and device (ENOMEM: send queue
  /// full).
  void post_send(ibv_send_wr& chain) {
    const int failure = try_post_send(chain);
    if (failure != 0) [[unlikely]]
      fail_post("ibv_post_send", failure);
  }
  /// Posts a chain of receive requests. @throws error as `post_send`.
  void post_recv(ibv_recv_wr& chain) {
    const int failure = try_post_recv(chain);
    if (failure != 0) [[unlikely]]
      fail_post("ibv_post_recv", failure);
  }
  /// The same without throwing: returns the errno, 0 for success, EINVAL if closed. Sets `bad`, if given, to
  /// the first request that was not posted.
  [[nodiscard]] int try_post_send(ibv_send_wr& chain, ibv_send_wr** bad = nullptr) noexcept {
    ibv_send_wr* unused = nullptr;
    return native() == nullptr ? EINVAL : errno_of(ibv_post_send(native(), &chain, bad ? bad : &unused));
  }
  [[nodiscard]] int try_post_recv(ibv_recv_wr& chain, ibv_recv_wr** bad = nullptr) noexcept {
    ibv_recv_wr* unused = nullptr;
    return native() == nullptr ? EINVAL : errno_of(ibv_post_recv(native(), &chain, bad ? bad : &unused));
  }

  /// Idempotent. @throws error (EBUSY) while it is attached to a multicast group.
  void close();

 private:
  void modify(ibv_qp_attr& attributes, int mask, const char* remedy);
  [[nodiscard]] ibv_qp* opened(const char* call) const;
  void require(bool connected, const char* call) const;
  [[noreturn]] void fail_post(const char* call, int errnum) const;

  handle<ibv_qp, &driver::destroy_qp> handle_;
  std::uint32_t number_ = 0;
  ibv_qp_type type_ = IBV_QPT_RC;
  ibv_qp_cap granted_{};
};

}  // namespace chorale::verbs
