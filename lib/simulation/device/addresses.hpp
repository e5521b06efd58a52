// SPDX-License-Identifier: Apache-2.0
// Address vectors and handles.
#pragma once

#include "objects.hpp"

namespace chorale::simulation::device {

class fabric;

struct queue_pair;

/// The target of packets that are sent with these attributes.
address_vector resolve(const context& from, const ibv_ah_attr& attributes) noexcept;
/// Whether packets that a queue pair sends by that path reach the other, as far as ports and partitions
/// decide.
bool reaches(const queue_pair& from, const address_vector& path, const queue_pair& to) noexcept;

ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attributes) noexcept;
int destroy_ah(ibv_ah* ah) noexcept;

}  // namespace chorale::simulation::device
