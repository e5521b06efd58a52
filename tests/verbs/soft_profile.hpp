// SPDX-License-Identifier: Apache-2.0
// Devices with profiles, and helpers for their answers and errors.
#pragma once

#include <cerrno>
#include <string>

#include <catch2/catch.hpp>

#include "soft_environment.hpp"
#include "soft_support.hpp"

namespace soft_test {

inline variables profiled(const std::string& text) {
  return variables{{{"CHORALE_SOFT_PROFILE", text}}};
}

inline ibv_qp_init_attr wish(const node& n, ibv_qp_type type, ibv_qp_cap cap = {1, 1, 1, 1, 0}) {
  ibv_qp_init_attr a{};
  a.send_cq = n.send_cq;
  a.recv_cq = n.recv_cq;
  a.cap = cap;
  a.qp_type = type;
  return a;
}

/// 0, or the errno with which this request is refused; fills `granted` on success.
inline int try_qp(const node& n, ibv_qp_type type, ibv_qp_cap cap, ibv_qp_cap* granted = nullptr) {
  ibv_qp_init_attr a = wish(n, type, cap);
  errno = 0;
  ibv_qp* const qp = soft().create_qp(n.pd, &a);
  if (qp == nullptr) return errno;
  if (granted != nullptr) *granted = a.cap;
  return soft().destroy_qp(qp);
}

inline int try_srq(const node& n) {
  ibv_srq_init_attr a{};
  a.attr.max_wr = 4;
  a.attr.max_sge = 1;
  errno = 0;
  ibv_srq* const srq = soft().create_srq(n.pd, &a);
  return srq == nullptr ? errno : soft().destroy_srq(srq);
}

inline int try_registration(const node& n, void* address, std::size_t bytes,
                            int access = IBV_ACCESS_LOCAL_WRITE) {
  errno = 0;
  ibv_mr* const mr = soft().reg_mr(n.pd, address, bytes, access);
  return mr == nullptr ? errno : soft().dereg_mr(mr);
}

inline ibv_device_attr attributes_of(const node& n) {
  ibv_device_attr a{};
  REQUIRE(soft().query_device(n.context, &a) == 0);
  return a;
}

inline ibv_port_attr port_of(const node& n) {
  ibv_port_attr a{};
  REQUIRE(soft().query_port(n.context, 1, &a) == 0);
  return a;
}

}  // namespace soft_test
