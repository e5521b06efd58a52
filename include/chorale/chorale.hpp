// Everything: the communicator, the transports and the algorithms.
#pragma once

// IWYU pragma: begin_exports
#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/every_algorithm.hpp>
#include <chorale/bootstrap/in_process.hpp>
#include <chorale/bootstrap/pmix.hpp>
#include <chorale/calls/split.hpp>
#include <chorale/communicator.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/elements.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/operators.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/core/type_name.hpp>
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
