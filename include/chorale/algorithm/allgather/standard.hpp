// SPDX-License-Identifier: Apache-2.0
// The default allgather of a communicator.
#pragma once

#include <chorale/algorithm/allgather/bruck.hpp>
#include <chorale/algorithm/allgather/direct.hpp>
#include <chorale/algorithm/allgather/last_arriver.hpp>
#include <chorale/algorithm/allgather/recursive_doubling.hpp>
#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/through_blocks.hpp>

namespace chorale::allgather {

/// The fastest of these, chosen by `automatic`. Uneven blocks use `ring`.
struct standard : automatic<recursive_doubling, bruck, direct, ring, last_arriver, through_blocks<direct>> {};

}  // namespace chorale::allgather
