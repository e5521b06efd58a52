// SPDX-License-Identifier: Apache-2.0
#include "harness.hpp"

namespace misuse {

template outcomes run<over_rc>(int, const chorale::config&, support::action<over_rc>);
template outcomes run<over_ud_rdma>(int, const chorale::config&, support::action<over_ud_rdma>);
template outcomes run<over_hybrid>(int, const chorale::config&, support::action<over_hybrid>);

}  // namespace misuse
