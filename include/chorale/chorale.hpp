// SPDX-License-Identifier: Apache-2.0
// Everything: the communicator, the transports and the algorithms.
#pragma once

// One error message instead of thousands that follow from it.
#if __cplusplus < 202002L
#error "Chorale needs C++20: compile with -std=c++20 or -std=gnu++20"
#elif !defined(__cpp_exceptions)
#error "Chorale reports errors by exceptions: compile without -fno-exceptions"
#else
#include <version>
#ifndef __cpp_lib_atomic_ref
#error "Chorale needs std::atomic_ref, which this standard library lacks: compile with -stdlib=libstdc++"
#else

// IWYU pragma: begin_exports
#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/every_algorithm.hpp>
#include <chorale/bootstrap/in_process.hpp>
#include <chorale/bootstrap/launched.hpp>
#include <chorale/bootstrap/pmix.hpp>
#include <chorale/bootstrap/tcp.hpp>
#include <chorale/calls/split.hpp>
#include <chorale/communicator.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/elements.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/operators.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/core/type_name.hpp>
#include <chorale/core/version.hpp>
#include <chorale/core/while_waiting.hpp>
#include <chorale/model/tuning.hpp>
#include <chorale/plan.hpp>
#include <chorale/registered_array.hpp>
#include <chorale/request.hpp>
#include <chorale/sparse_alltoall.hpp>
#include <chorale/statistics.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>
#include <chorale/window.hpp>
// IWYU pragma: end_exports

#endif
#endif
