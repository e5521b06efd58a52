// SPDX-License-Identifier: Apache-2.0
// ibv_create_qp_ex, and posting through ibv_qp_ex: calls collect a list, which wr_complete posts.
#include <cerrno>
#include <memory>

#include "extended.hpp"
#include "queue_pair.hpp"

namespace chorale::soft {
namespace {

constexpr std::uint64_t datagram_operations = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
constexpr std::uint64_t unreliable_operations =
    datagram_operations | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
constexpr std::uint64_t reliable_operations = unreliable_operations | IBV_QP_EX_WITH_RDMA_READ |
                                              IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
                                              IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

std::uint64_t operations_of(ibv_qp_type type) noexcept {
  return type == IBV_QPT_RC   ? reliable_operations
         : type == IBV_QPT_UC ? unreliable_operations
                              : datagram_operations;
}

queue_pair& of(ibv_qp_ex* qp) noexcept {
  return static_cast<queue_pair&>(qp->qp_base);
}

/// Calls `f` on the builder unless an earlier call has failed.
template <class F>
void build(ibv_qp_ex* qp, F f) noexcept {
  request_builder& b = *of(qp).builder;
  if (b.failure != 0) return;
  try {
    b.failure = f(b, of(qp));
  } catch (...) {
    b.failure = ENOMEM;
  }
}

void add(ibv_qp_ex* qp, ibv_wr_opcode opcode, const ibv_send_wr& rest = {}) noexcept {
  build(qp, [&](request_builder& b, queue_pair&) {
    b.entries.push_back({rest, b.sges.size(), 0, false});
    ibv_send_wr& wr = b.entries.back().wr;
    wr.opcode = opcode;
    wr.wr_id = qp->wr_id;
    wr.send_flags = qp->wr_flags & ~static_cast<unsigned>(IBV_SEND_INLINE);
    return 0;
  });
}

ibv_send_wr rdma(std::uint32_t rkey, std::uint64_t address, __be32 imm = 0) noexcept {
  ibv_send_wr wr{};
  wr.imm_data = imm;
  wr.wr.rdma.rkey = rkey;
  wr.wr.rdma.remote_addr = address;
  return wr;
}

ibv_send_wr atomic(std::uint32_t rkey, std::uint64_t address, std::uint64_t compare_add,
                   std::uint64_t swap) noexcept {
  ibv_send_wr wr{};
  wr.wr.atomic = {address, compare_add, swap, rkey};
  return wr;
}

ibv_send_wr immediate(__be32 imm) noexcept {
  ibv_send_wr wr{};
  wr.imm_data = imm;
  return wr;
}

void set_sges(ibv_qp_ex* qp, std::size_t count, const ibv_sge* list) noexcept {
  build(qp, [&](request_builder& b, queue_pair& q) {
    if (b.entries.empty() || count > q.cap.max_send_sge) return EINVAL;
    b.sges.resize(b.entries.back().first_sge);  // a second call replaces the entries of the first
    b.sges.insert(b.sges.end(), list, list + count);
    b.entries.back().wr.num_sge = static_cast<int>(count);
    return 0;
  });
}

/// Inline data is copied now, since the program may reuse its memory at once.
void set_inline(ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* list) noexcept {
  build(qp, [&](request_builder& b, queue_pair& q) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (list[i].length > q.cap.max_inline_data - bytes) return EINVAL;
      bytes += list[i].length;
    }
    if (b.entries.empty()) return EINVAL;
    request_builder::entry& e = b.entries.back();
    e.has_inline = true;
    e.first_inline = b.inline_bytes.size();
    e.wr.send_flags |= IBV_SEND_INLINE;
    e.wr.num_sge = 1;
    b.sges.resize(e.first_sge);
    b.sges.push_back({0, static_cast<std::uint32_t>(bytes), 0});
    for (std::size_t i = 0; i < count; ++i) {
      const auto* data = static_cast<const unsigned char*>(list[i].addr);
      b.inline_bytes.insert(b.inline_bytes.end(), data, data + list[i].length);
    }
    return 0;
  });
}

void start(ibv_qp_ex* qp) noexcept {
  request_builder& b = *of(qp).builder;
  const bool is_parents = of(qp).owner->abandoned();
  if (!is_parents) b.building.lock();  // in a forked child a thread of the parent may hold it
  b.entries.clear();
  b.sges.clear();
  b.inline_bytes.clear();
  b.failure = is_parents ? EINVAL : 0;
}

void abort_building(ibv_qp_ex* qp) noexcept {
  of(qp).builder->building.unlock();
}

/// All or nothing, unlike ibv_post_send, which may post part of a list and then fail.
bool has_room(queue_pair& qp, std::size_t count) noexcept {
  const lock_guard lock(qp.record->send_lock, qp.owner->lock_name());
  return lock && qp.posted - qp.retired.load(std::memory_order_acquire) + count <= qp.cap.max_send_wr;
}

int post(queue_pair& qp, request_builder& b) noexcept {
  if (b.failure != 0) return b.failure;
  if (b.entries.empty()) return 0;
  if (b.entries.size() > 1 && !has_room(qp, b.entries.size())) return ENOMEM;
  for (std::size_t i = 0; i < b.entries.size(); ++i) {
    request_builder::entry& e = b.entries[i];
    e.wr.sg_list = b.sges.data() + e.first_sge;
    if (e.has_inline)
      e.wr.sg_list[0].addr = reinterpret_cast<std::uint64_t>(b.inline_bytes.data() + e.first_inline);
    e.wr.next = i + 1 < b.entries.size() ? &b.entries[i + 1].wr : nullptr;
  }
  ibv_send_wr* bad = nullptr;
  return qp.context->ops.post_send(&qp, &b.entries.front().wr, &bad);
}

int complete_building(ibv_qp_ex* qp) noexcept {
  request_builder& b = *of(qp).builder;
  const int status = post(of(qp), b);
  b.building.unlock();
  return status;
}

void fill(ibv_qp_ex& ex, std::uint64_t operations) noexcept {
  ex.wr_start = start;
  ex.wr_complete = complete_building;
  ex.wr_abort = abort_building;
  ex.wr_set_sge = [](ibv_qp_ex* qp, std::uint32_t lkey, std::uint64_t address, std::uint32_t length) {
    const ibv_sge one{address, length, lkey};
    set_sges(qp, 1, &one);
  };
  ex.wr_set_sge_list = [](ibv_qp_ex* qp, std::size_t count, const ibv_sge* list) {
    set_sges(qp, count, list);
  };
  ex.wr_set_inline_data = [](ibv_qp_ex* qp, void* data, std::size_t length) {
    const ibv_data_buf one{data, length};
    set_inline(qp, 1, &one);
  };
  ex.wr_set_inline_data_list = [](ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* list) {
    set_inline(qp, count, list);
  };
  ex.wr_set_ud_addr = [](ibv_qp_ex* qp, ibv_ah* ah, std::uint32_t qpn, std::uint32_t qkey) {
    build(qp, [&](request_builder& b, queue_pair&) {
      if (b.entries.empty()) return EINVAL;
      b.entries.back().wr.wr.ud = {ah, qpn, qkey};
      return 0;
    });
  };
  ex.wr_send = [](ibv_qp_ex* qp) { add(qp, IBV_WR_SEND); };
  ex.wr_send_imm = [](ibv_qp_ex* qp, __be32 imm) { add(qp, IBV_WR_SEND_WITH_IMM, immediate(imm)); };
  if ((operations & IBV_QP_EX_WITH_RDMA_WRITE) == 0) return;
  ex.wr_rdma_write = [](ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
    add(qp, IBV_WR_RDMA_WRITE, rdma(rkey, address));
  };
  ex.wr_rdma_write_imm = [](ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, __be32 imm) {
    add(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rdma(rkey, address, imm));
  };
  if ((operations & IBV_QP_EX_WITH_RDMA_READ) == 0) return;
  ex.wr_rdma_read = [](ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
    add(qp, IBV_WR_RDMA_READ, rdma(rkey, address));
  };
  ex.wr_atomic_cmp_swp = [](ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, std::uint64_t compare,
                            std::uint64_t swap) {
    add(qp, IBV_WR_ATOMIC_CMP_AND_SWP, atomic(rkey, address, compare, swap));
  };
  ex.wr_atomic_fetch_add = [](ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, std::uint64_t sum) {
    add(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, atomic(rkey, address, sum, 0));
  };
}

}  // namespace

ibv_qp* create_qp_ex(ibv_context* c, ibv_qp_init_attr_ex* a) noexcept {
  constexpr std::uint32_t known =
      IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_CREATE_FLAGS;
  const bool builds = (a->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
  errno = 0;
  if ((a->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || a->pd == nullptr || a->pd->context != c)
    errno = EINVAL;
  else if ((a->comp_mask & ~known) != 0 ||
           ((a->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && a->create_flags != 0) ||
           (builds && (a->send_ops_flags & ~operations_of(a->qp_type)) != 0))
    errno = EOPNOTSUPP;
  if (errno != 0) return nullptr;
  // The extended attributes begin with the plain ones.
  ibv_qp* base = create_qp(a->pd, reinterpret_cast<ibv_qp_init_attr*>(a));
  if (base == nullptr || !builds) return base;
  auto& qp = static_cast<queue_pair&>(*base);
  qp.builder.reset(new (std::nothrow) request_builder);
  if (qp.builder == nullptr) {
    destroy_qp(base);
    errno = ENOMEM;
    return nullptr;
  }
  fill(*qp.extended(), operations_of(qp.qp_type));
  return base;
}

ibv_qp_ex* qp_to_qp_ex(ibv_qp* base) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  return qp.builder == nullptr ? nullptr : qp.extended();
}

}  // namespace chorale::soft
