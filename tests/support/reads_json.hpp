// SPDX-License-Identifier: Apache-2.0
// Whether the library can read JSON files.
#pragma once

#include <catch2/catch.hpp>

namespace support {

/// If it cannot, the test reports that it is skipped.
inline bool reads_json() {
#ifdef CHORALE_TEST_JSON
  return true;
#else
  WARN(
      "skipped: the library was built without nlohmann-json (nlohmann-json3-dev), which reads tuning tables");
  return false;
#endif
}

}  // namespace support
