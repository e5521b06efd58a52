// Address vectors and handles.
#pragma once

#include "objects.hpp"

namespace chorale::simulation::device {

class fabric;

/// Whom these attributes name.
struct queue_pair;

address_vector resolve(const context& from, const ibv_ah_attr& attributes) noexcept;
/// Whether what a queue pair sends by that path comes to the other, as far as their ports and partitions
/// decide.
bool reaches(const queue_pair& from, const address_vector& path, const queue_pair& to) noexcept;

ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attributes) noexcept;
ibv_ah* create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port) noexcept;
int destroy_ah(ibv_ah* ah) noexcept;

}  // namespace chorale::simulation::device
