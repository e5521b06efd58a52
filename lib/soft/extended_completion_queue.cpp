// SPDX-License-Identifier: Apache-2.0
// ibv_create_cq_ex: completions read field by field, optionally with timestamps.
#include <cerrno>

#include "extended.hpp"
#include "queues.hpp"

namespace chorale::soft {
namespace {

constexpr std::uint64_t known_fields = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM |
                                       IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL |
                                       IBV_WC_EX_WITH_DLID_PATH_BITS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;

completion_queue& of(ibv_cq_ex* cq) noexcept {
  return static_cast<completion_queue&>(*ibv_cq_ex_to_cq(cq));
}

int next(ibv_cq_ex* ex) noexcept {
  completion_queue& cq = of(ex);
  const int got = poll(cq, 1, &cq.current, &cq.current_timestamp);
  if (got == 1) {
    ex->wr_id = cq.current.wr_id;
    ex->status = cq.current.status;
    return 0;
  }
  return got == 0 ? ENOENT : EIO;
}

int start(ibv_cq_ex* ex, ibv_poll_cq_attr* attributes) noexcept {
  // In a forked child a thread of the parent may hold the lock.
  if (attributes->comp_mask != 0 || of(ex).owner->abandoned()) return EINVAL;
  of(ex).polling_extended.lock();
  const int status = next(ex);
  if (status != 0) of(ex).polling_extended.unlock();  // after a failure there is no end_poll
  return status;
}

void end(ibv_cq_ex* ex) noexcept {
  of(ex).polling_extended.unlock();
}

void fill(ibv_cq_ex& ex) noexcept {
  ex.start_poll = start;
  ex.next_poll = next;
  ex.end_poll = end;
  ex.read_opcode = [](ibv_cq_ex* cq) { return of(cq).current.opcode; };
  ex.read_vendor_err = [](ibv_cq_ex* cq) { return of(cq).current.vendor_err; };
  ex.read_byte_len = [](ibv_cq_ex* cq) { return of(cq).current.byte_len; };
  ex.read_imm_data = [](ibv_cq_ex* cq) { return of(cq).current.imm_data; };
  ex.read_qp_num = [](ibv_cq_ex* cq) { return of(cq).current.qp_num; };
  ex.read_src_qp = [](ibv_cq_ex* cq) { return of(cq).current.src_qp; };
  ex.read_wc_flags = [](ibv_cq_ex* cq) { return of(cq).current.wc_flags; };
  ex.read_slid = [](ibv_cq_ex* cq) { return std::uint32_t{of(cq).current.slid}; };
  ex.read_sl = [](ibv_cq_ex* cq) { return of(cq).current.sl; };
  ex.read_dlid_path_bits = [](ibv_cq_ex* cq) { return of(cq).current.dlid_path_bits; };
  ex.read_completion_ts = [](ibv_cq_ex* cq) { return of(cq).current_timestamp; };
}

}  // namespace

ibv_cq_ex* create_cq_ex(ibv_context* c, ibv_cq_init_attr_ex* a) noexcept {
  const std::uint32_t flags = (a->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 ? a->flags : 0;
  if ((a->comp_mask & ~static_cast<std::uint32_t>(IBV_CQ_INIT_ATTR_MASK_FLAGS)) != 0 ||
      (flags & ~static_cast<std::uint32_t>(IBV_CREATE_CQ_ATTR_SINGLE_THREADED)) != 0 ||
      (a->wc_flags & ~known_fields) != 0) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  if (a->cqe > max_cqe || a->comp_vector > 0x7fffffffU) {
    errno = EINVAL;
    return nullptr;
  }
  ibv_cq* base =
      create_cq(c, static_cast<int>(a->cqe), a->cq_context, a->channel, static_cast<int>(a->comp_vector));
  if (base == nullptr) return nullptr;
  auto& cq = static_cast<completion_queue&>(*base);
  if ((a->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) != 0) cq.record->timestamps.store(1);
  fill(*cq.extended());
  return cq.extended();
}

}  // namespace chorale::soft
