// SPDX-License-Identifier: Apache-2.0
// Send work requests that a program builds call by call between ibv_wr_start and ibv_wr_complete.
#pragma once

#include <cstdint>
#include <vector>

#include "objects.hpp"

namespace chorale::soft {

/// One per QP. `building` is held from wr_start until wr_complete or wr_abort, as verbs require.
struct request_builder {
  struct entry {
    ibv_send_wr wr;
    std::size_t first_sge;     ///< in `sges`
    std::size_t first_inline;  ///< in `inline_bytes`, if its data was set inline
    bool has_inline;
  };

  spin_lock building;
  std::vector<entry> entries;
  std::vector<ibv_sge> sges;
  std::vector<unsigned char> inline_bytes;
  int failure = 0;  ///< the first failure: wr_complete returns it and posts nothing
};

}  // namespace chorale::soft
