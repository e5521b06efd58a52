// Address vectors and handles.
#pragma once

#include "objects.hpp"

namespace chorale::simulation::device {

class fabric;

/// Whom these attributes name.
address_vector resolve(fabric& all, const ibv_ah_attr& attributes) noexcept;

ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attributes) noexcept;
ibv_ah* create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port) noexcept;
int destroy_ah(ibv_ah* ah) noexcept;

}  // namespace chorale::simulation::device
