// SPDX-License-Identifier: Apache-2.0
// Protection domains, memory and its registration.
#pragma once

#include <cstddef>

#include "objects.hpp"

namespace chorale::simulation::device {

ibv_pd* alloc_pd(ibv_context* c) noexcept;
int dealloc_pd(ibv_pd* pd) noexcept;
ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t bytes, int access) noexcept;
int dereg_mr(ibv_mr* mr) noexcept;
void* allocate(ibv_context* c, std::size_t bytes) noexcept;
int release(ibv_context* c, void* address, std::size_t bytes) noexcept;

}  // namespace chorale::simulation::device
