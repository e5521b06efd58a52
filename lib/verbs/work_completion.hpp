// SPDX-License-Identifier: Apache-2.0
// Work completions in words.
#pragma once

#include <string>
#include <string_view>

#include <infiniband/verbs.h>

namespace chorale::verbs {

/// "RDMA write on QP 0x12: remote access error (REM_ACCESS_ERR), vendor 0x0; <remedy>". A failed completion
/// defines only wr_id, status, qp_num and vendor_err, so `operation`, if given, names the operation.
std::string describe(const ibv_wc& completion, std::string_view operation = {});

/// The usual cause of `status` and the remedy, as one clause; empty for success.
std::string_view remedy(ibv_wc_status status) noexcept;

}  // namespace chorale::verbs
