// SPDX-License-Identifier: Apache-2.0
// The verbs that concern objects: each calls soft0 through the driver table that the library uses as well.
#include <cerrno>
#include <cstdint>

#include "soft/extended.hpp"
#include "verbs/sender_of.hpp"
#include "verbs_names.hpp"

using chorale::preload::soft0;

extern "C" {

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  return soft0().alloc_pd(context);
}

int ibv_dealloc_pd(ibv_pd* pd) {
  return soft0().dealloc_pd(pd);
}

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t bytes, int access) {
  return soft0().reg_mr(pd, address, bytes, access);
}

/// Peers use the addresses of this process: any other `iova` is refused.
ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t bytes, std::uint64_t iova, unsigned access) {
  if (iova != reinterpret_cast<std::uint64_t>(address)) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  return soft0().reg_mr(pd, address, bytes, static_cast<int>(access));
}

ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t bytes, std::uint64_t iova, int access) {
  return ibv_reg_mr_iova2(pd, address, bytes, iova, static_cast<unsigned>(access));
}

int ibv_dereg_mr(ibv_mr* mr) {
  return soft0().dereg_mr(mr);
}

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  return soft0().create_comp_channel(context);
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  return soft0().destroy_comp_channel(channel);
}

ibv_cq* ibv_create_cq(ibv_context* context, int entries, void* cq_context, ibv_comp_channel* channel,
                      int vector) {
  return soft0().create_cq(context, entries, cq_context, channel, vector);
}

int ibv_resize_cq(ibv_cq* cq, int entries) {
  return soft0().resize_cq(cq, entries);
}

int ibv_destroy_cq(ibv_cq* cq) {
  return soft0().destroy_cq(cq);
}

int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  return soft0().get_cq_event(channel, cq, cq_context);
}

void ibv_ack_cq_events(ibv_cq* cq, unsigned count) {
  soft0().ack_cq_events(cq, count);
}

ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes) {
  return soft0().create_srq(pd, attributes);
}

int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* attributes, int mask) {
  return soft0().modify_srq(srq, attributes, mask);
}

int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* attributes) {
  return soft0().query_srq(srq, attributes);
}

int ibv_destroy_srq(ibv_srq* srq) {
  return soft0().destroy_srq(srq);
}

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
  return soft0().create_qp(pd, attributes);
}

ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  return chorale::soft::qp_to_qp_ex(qp);
}

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
  return soft0().modify_qp(qp, attributes, mask);
}

int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask, ibv_qp_init_attr* init) {
  return soft0().query_qp(qp, attributes, mask, init);
}

int ibv_query_qp_data_in_order(ibv_qp* qp, ibv_wr_opcode opcode, std::uint32_t flags) {
  return soft0().query_qp_data_in_order(qp, opcode, flags);
}

int ibv_destroy_qp(ibv_qp* qp) {
  return soft0().destroy_qp(qp);
}

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attributes) {
  return soft0().create_ah(pd, attributes);
}

int ibv_init_ah_from_wc(ibv_context*, std::uint8_t port, ibv_wc* wc, ibv_grh* grh, ibv_ah_attr* attributes) {
  *attributes = chorale::verbs::sender_of(*wc, grh, port);
  return 0;
}

ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port) {
  return soft0().create_ah_from_wc(pd, wc, grh, port);
}

int ibv_destroy_ah(ibv_ah* ah) {
  return soft0().destroy_ah(ah);
}

int ibv_attach_mcast(ibv_qp* qp, const union ibv_gid* gid, std::uint16_t lid) {
  return soft0().attach_mcast(qp, gid, lid);
}

int ibv_detach_mcast(ibv_qp* qp, const union ibv_gid* gid, std::uint16_t lid) {
  return soft0().detach_mcast(qp, gid, lid);
}

}  // extern "C"
