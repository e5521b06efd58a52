// SPDX-License-Identifier: Apache-2.0
// The statistics of a communicator.
#pragma once

#include <chorale/communicator.hpp>
#include <chorale/transport/observers/call_statistics.hpp>

template <class... Policies>
chorale::call_statistics chorale::communicator<Policies...>::statistics() const {
  return transport::statistics_of(on().transport().core().calls());
}
