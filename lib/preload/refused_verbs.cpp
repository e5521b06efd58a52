// SPDX-License-Identifier: Apache-2.0
// Verbs that soft0 does not support. libibverbs must not answer them either: it would take soft0's objects
// for its own.
#include <cerrno>

#include "verbs_names.hpp"

namespace {

template <class T = void>
T* refuse() noexcept {
  errno = EOPNOTSUPP;
  return nullptr;
}

}  // namespace

extern "C" {

/// The old region stays as it is.
int ibv_rereg_mr(ibv_mr*, int, ibv_pd*, void*, std::size_t, int) {
  errno = EOPNOTSUPP;
  return IBV_REREG_MR_ERR_INPUT;
}

ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int, int) {
  return refuse<ibv_mr>();
}

ibv_context* ibv_import_device(int) {
  return refuse<ibv_context>();
}

ibv_pd* ibv_import_pd(ibv_context*, std::uint32_t) {
  return refuse<ibv_pd>();
}

void ibv_unimport_pd(ibv_pd*) {}

ibv_mr* ibv_import_mr(ibv_pd*, std::uint32_t) {
  return refuse<ibv_mr>();
}

void ibv_unimport_mr(ibv_mr*) {}

ibv_dm* ibv_import_dm(ibv_context*, std::uint32_t) {
  return refuse<ibv_dm>();
}

void ibv_unimport_dm(ibv_dm*) {}

int ibv_query_ece(ibv_qp*, ibv_ece*) {
  return errno = EOPNOTSUPP;
}

int ibv_set_ece(ibv_qp*, ibv_ece*) {
  return errno = EOPNOTSUPP;
}

int ibv_resolve_eth_l2_from_gid(ibv_context*, ibv_ah_attr*, std::uint8_t*, std::uint16_t*) {
  errno = EOPNOTSUPP;  // its link is InfiniBand
  return -1;
}

}  // extern "C"
