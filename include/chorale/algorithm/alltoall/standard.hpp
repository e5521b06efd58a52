// SPDX-License-Identifier: Apache-2.0
// The default alltoall of a communicator.
#pragma once

#include <chorale/algorithm/alltoall/bruck.hpp>
#include <chorale/algorithm/alltoall/direct.hpp>
#include <chorale/algorithm/alltoall/last_arriver.hpp>
#include <chorale/algorithm/alltoall/last_arriver_reads.hpp>
#include <chorale/algorithm/alltoall/multi_object.hpp>
#include <chorale/algorithm/alltoall/pairwise.hpp>
#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/through_blocks.hpp>

namespace chorale::alltoall {

/// The fastest of these, chosen by `automatic`. Uneven blocks use `pairwise`.
struct standard : automatic<direct, pairwise, bruck, bruck_k<4>, bruck_k<8>, last_arriver, last_arriver_reads,
                            multi_object<direct>, through_blocks<direct>> {};

}  // namespace chorale::alltoall
