// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <limits>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/verbs/queue_pair.hpp>

#include "failure.hpp"
#include "text.hpp"

namespace chorale::verbs {
namespace {

constexpr std::uint32_t most_24_bits = 0xffffff;

std::string name_of(const ibv_qp* pair) {
  return fmt::format("QP {:#x} ({}) of {}", pair->qp_num, to_string(pair->qp_type),
                     device_name(pair->context));
}

/// Names the requested values that exceed a limit of the device, as far as it reports limits.
std::string creation_remedy(const driver& provider, ibv_context* context, const queue_pair_options& wanted) {
  ibv_device_attr limits{};
  if (provider.query_device(context, &limits) != 0) return {};
  std::string passed;
  const auto check = [&](const char* field, std::uint32_t value, int most, const char* limit) {
    if (value > static_cast<std::uint32_t>(most))
      passed += fmt::format("{}{} {} exceeds the device's {} of {}", passed.empty() ? "" : "; ", field, value,
                            limit, most);
  };
  check("send_depth", wanted.send_depth, limits.max_qp_wr, "max_qp_wr");
  if (wanted.srq == nullptr) check("recv_depth", wanted.recv_depth, limits.max_qp_wr, "max_qp_wr");
  check("send_sges", wanted.send_sges, limits.max_sge, "max_sge");
  if (wanted.srq == nullptr) check("recv_sges", wanted.recv_sges, limits.max_sge, "max_sge");
  if (passed.empty() && wanted.inline_bytes > 0)
    passed = fmt::format("perhaps {} inline bytes are more than the device can carry", wanted.inline_bytes);
  return passed;
}

void require_24_bits(const char* field, std::uint32_t value, const ibv_qp* pair) {
  if (value > most_24_bits)
    throw error(errc::invalid_argument,
                fmt::format("{} {:#x} for {}: it has 24 bits", field, value, name_of(pair)));
}

}  // namespace

queue_pair::queue_pair(const protection_domain& domain, const queue_pair_options& options)
    : type_(options.type) {
  if (domain.native() == nullptr) fail_closed("ibv_create_qp", "protection domain");
  if (options.type != IBV_QPT_RC && options.type != IBV_QPT_UC && options.type != IBV_QPT_UD)
    throw error(errc::unsupported, "ibv_create_qp: queue_pair_options::type must be RC, UC or UD");
  if (options.send == nullptr || options.recv == nullptr)
    throw error(errc::invalid_argument,
                "ibv_create_qp: queue_pair_options::send and recv must name completion queues");
  if (options.send->native() == nullptr || options.recv->native() == nullptr)
    fail_closed("ibv_create_qp", "completion queue");
  if (options.srq != nullptr && options.srq->native() == nullptr)
    fail_closed("ibv_create_qp", "shared receive queue");

  ibv_qp_init_attr attributes{};
  attributes.qp_type = options.type;
  attributes.send_cq = options.send->native();
  attributes.recv_cq = options.recv->native();
  attributes.srq = options.srq == nullptr ? nullptr : options.srq->native();
  attributes.sq_sig_all = options.signal_all ? 1 : 0;
  attributes.cap.max_send_wr = options.send_depth;
  attributes.cap.max_send_sge = options.send_sges;
  attributes.cap.max_recv_wr = options.srq == nullptr ? options.recv_depth : 0;
  attributes.cap.max_recv_sge = options.srq == nullptr ? options.recv_sges : 0;
  attributes.cap.max_inline_data = options.inline_bytes;
  errno = 0;
  ibv_qp* const made = domain.provider().create_qp(domain.native(), &attributes);
  if (made == nullptr) {
    const int failure = errno;
    fail(failure, fmt::format("ibv_create_qp ({})", to_string(options.type)),
         device_name(domain.native()->context),
         creation_remedy(domain.provider(), domain.native()->context, options));
  }
  handle_ = {domain.provider(), made};
  number_ = made->qp_num;
  granted_ = attributes.cap;
}

ibv_qp* queue_pair::opened(const char* call) const {
  if (native() == nullptr) fail_closed(call, fmt::format("queue pair {:#x}", number_));
  return native();
}

void queue_pair::require(bool connected, const char* call) const {
  static_cast<void>(opened(call));
  if (connected != (type_ != IBV_QPT_UD))
    throw error(errc::invalid_argument, fmt::format("{} on {}: this form is for {} queue pairs", call,
                                                    name_of(native()), connected ? "RC and UC" : "UD"));
}

ibv_qp_state queue_pair::state() const {
  ibv_qp* const pair = opened("ibv_query_qp");
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  if (const int failure = errno_of(provider().query_qp(pair, &attributes, IBV_QP_STATE, &init)); failure != 0)
    fail(failure, "ibv_query_qp", name_of(pair));
  return attributes.qp_state;
}

void queue_pair::modify(ibv_qp_attr& attributes, int mask, const char* remedy) {
  ibv_qp* const pair = opened("ibv_modify_qp");
  const int failure = errno_of(provider().modify_qp(pair, &attributes, mask | IBV_QP_STATE));
  if (failure == 0) return;
  ibv_qp_attr now{};
  ibv_qp_init_attr init{};
  const bool known = provider().query_qp(pair, &now, IBV_QP_STATE, &init) == 0;
  const bool unreachable = failure == ETIMEDOUT || failure == ENETUNREACH || failure == EHOSTUNREACH;
  fail(failure,
       fmt::format("ibv_modify_qp from {} to {}", known ? to_string(now.qp_state) : "?",
                   to_string(attributes.qp_state)),
       name_of(pair),
       unreachable ? "the peer's GID cannot be resolved: is there a route to it from the GID index in use?"
       : failure == EINVAL ? remedy
                           : "");
}

void queue_pair::to_init(const init_options& options) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = options.port;
  attributes.pkey_index = options.pkey_index;
  attributes.qp_access_flags = static_cast<unsigned int>(options.access);
  attributes.qkey = options.qkey;
  const int own = type_ == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
  modify(attributes, IBV_QP_PKEY_INDEX | IBV_QP_PORT | own,
         "INIT follows RESET; port and PKey index must exist");
}

void queue_pair::to_ready_to_receive(const connection& peer) {
  require(true, "to_ready_to_receive(connection)");
  require_24_bits("connection::remote_qp", peer.remote_qp, native());
  require_24_bits("connection::remote_psn", peer.remote_psn, native());
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = peer.path_mtu;
  attributes.dest_qp_num = peer.remote_qp;
  attributes.rq_psn = peer.remote_psn;
  attributes.ah_attr = peer.path;
  attributes.max_dest_rd_atomic = peer.max_dest_rd_atomic;
  attributes.min_rnr_timer = peer.min_rnr_timer;
  const int reliable = type_ == IBV_QPT_RC ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0;
  modify(attributes, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | reliable,
         "RTR follows INIT; GID index and port must exist, the MTU be at most the port's active one, "
         "max_dest_rd_atomic at most the device's max_qp_rd_atom");
}

void queue_pair::to_ready_to_receive() {
  require(false, "to_ready_to_receive()");
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  modify(attributes, 0, "RTR follows INIT");
}

void queue_pair::to_ready_to_send(const connection& peer) {
  require(true, "to_ready_to_send(connection)");
  require_24_bits("connection::local_psn", peer.local_psn, native());
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = peer.local_psn;
  attributes.timeout = peer.timeout;
  attributes.retry_cnt = peer.retry;
  attributes.rnr_retry = peer.rnr_retry;
  attributes.max_rd_atomic = peer.max_rd_atomic;
  const int reliable = type_ == IBV_QPT_RC
                           ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC
                           : 0;
  modify(attributes, IBV_QP_SQ_PSN | reliable,
         "RTS follows RTR; timeout is at most 31, retry counts at most 7, max_rd_atomic at most the device's "
         "max_qp_init_rd_atom");
}

void queue_pair::to_ready_to_send(std::uint32_t psn) {
  require(false, "to_ready_to_send(psn)");
  require_24_bits("psn", psn, native());
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = psn;
  modify(attributes, IBV_QP_SQ_PSN, "RTS follows RTR");
}

void queue_pair::to_error() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  modify(attributes, 0, "");
}

void queue_pair::to_reset() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RESET;
  modify(attributes, 0, "");
}

std::size_t queue_pair::bytes_in_order() const {
  constexpr auto whole = std::numeric_limits<std::size_t>::max();
  ibv_qp* const pair = opened("ibv_query_qp_data_in_order");
  const auto ask = [&](std::uint32_t flags) {
    return provider().query_qp_data_in_order(pair, IBV_WR_RDMA_WRITE, flags);
  };
  if (ask(0) == 1) return whole;
  const int capabilities = ask(in_order_capabilities);
  if (capabilities < 0) return 0;
  return (capabilities & in_order_whole) != 0 ? whole : (capabilities & in_order_aligned_128) != 0 ? 128 : 0;
}

void queue_pair::fail_post(const char* call, int errnum) const {
  ibv_qp* const pair = opened(call);
  ibv_qp_attr now{};
  ibv_qp_init_attr init{};
  const bool known = provider().query_qp(pair, &now, IBV_QP_STATE, &init) == 0;
  const std::string object =
      fmt::format("{} in state {}", name_of(pair), known ? to_string(now.qp_state) : "?");
  const bool sends = std::string_view{call} == "ibv_post_send";
  if (errnum == ENOMEM)
    fail(errnum, call, object,
         sends ? fmt::format(
                     "all its {} send requests are outstanding: signal some and poll for their completion",
                     granted_.max_send_wr)
               : fmt::format("all its {} receive requests are posted", granted_.max_recv_wr));
  if (errnum == EINVAL)
    fail(errnum, call, object,
         sends ? fmt::format(
                     "sending needs RTS; a request has at most {} gather entries and {} inline bytes, and an "
                     "opcode that {} allows",
                     granted_.max_send_sge, granted_.max_inline_data, to_string(type_))
               : fmt::format(
                     "receiving needs INIT or later, at most {} scatter entries, and no shared receive queue",
                     granted_.max_recv_sge));
  fail(errnum, call, object);
}

void queue_pair::close() {
  if (const int failure = handle_.close(); failure != 0)
    fail(failure, "ibv_destroy_qp", name_of(native()),
         failure == EBUSY ? "it is attached to a multicast group: close the membership first" : "");
}

}  // namespace chorale::verbs
