// SPDX-License-Identifier: Apache-2.0
// The default barrier of a communicator.
#pragma once

#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/barrier/central.hpp>
#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/algorithm/barrier/dissemination_k.hpp>
#include <chorale/algorithm/barrier/last_arriver.hpp>
#include <chorale/algorithm/barrier/multi_object.hpp>
#include <chorale/algorithm/barrier/pairwise_exchange.hpp>

namespace chorale::barrier {

/// The fastest of these, chosen by `automatic`.
struct standard : automatic<dissemination, dissemination_k<3>, dissemination_k<7>, pairwise_exchange, central,
                            last_arriver, multi_object<dissemination_k<3>>,
                            multi_object<dissemination_k<3>, last_arriver>> {};

}  // namespace chorale::barrier
