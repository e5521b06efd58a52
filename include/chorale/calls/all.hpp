// SPDX-License-Identifier: Apache-2.0
// The calls of all operations.
#pragma once

// IWYU pragma: begin_exports
#include <chorale/calls/allgather.hpp>
#include <chorale/calls/alltoall.hpp>
#include <chorale/calls/barrier.hpp>
#include <chorale/calls/broadcast.hpp>
#include <chorale/calls/exchange.hpp>
#include <chorale/calls/explain.hpp>
#include <chorale/calls/gather.hpp>
#include <chorale/calls/make.hpp>
#include <chorale/calls/parts.hpp>
#include <chorale/calls/reduce.hpp>
#include <chorale/calls/reduce_scatter.hpp>
#include <chorale/calls/scan.hpp>
#include <chorale/calls/scatter.hpp>
#include <chorale/calls/split.hpp>
#include <chorale/calls/strided_calls.hpp>
// IWYU pragma: end_exports
