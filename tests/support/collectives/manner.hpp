// SPDX-License-Identifier: Apache-2.0
// The form of a checked call, and the name of a check in errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <chorale/core/clock.hpp>
#include <chorale/request.hpp>

#include "cases.hpp"

namespace collectives {

/// The form of a call.
struct manner {
  bool nonblocking = false;
  bool in_place = false;
  std::size_t misalignment = 0;
};

/// The calling rank of `comm` in a call.
template <class Comm>
participant of(const Comm& comm, std::uint64_t seed, const manner& m) {
  return {comm.rank(), comm.size(), seed, m.in_place, m.misalignment};
}

inline std::string describe(const manner& m) {
  return std::string{m.nonblocking ? ", nonblocking" : ""} + (m.in_place ? ", in place" : "") +
         (m.misalignment != 0 ? ", " + std::to_string(m.misalignment) + " bytes off alignment" : "");
}

template <class T>
std::string describe(const char* operation, std::size_t count, int rank, const manner& m, int root = -1) {
  return std::string{operation} + " of " + std::to_string(count) + " elements of " +
         std::to_string(sizeof(T)) + " bytes" + (root >= 0 ? " with root " + std::to_string(root) : "") +
         describe(m) + " on rank " + std::to_string(rank);
}

/// Tests a request until it is complete.
inline void await(chorale::request request) {
  while (!request.test()) chorale::clock::give_way();
}

}  // namespace collectives
