// SPDX-License-Identifier: Apache-2.0
// Resources that a failed set-up must not leave behind.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <thread>

#include "shortage.hpp"

namespace robustness {

/// Resources of this process, which must not increase by a failure.
struct footprint {
  long descriptors;
  long threads;
  long mappings;
  long objects;
  bool operator==(const footprint&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const footprint& f) {
  return out << f.descriptors << " descriptors, " << f.threads << " threads, " << f.mappings << " mappings, "
             << f.objects << " objects";
}

inline long entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

inline footprint now() {
  const long objects = shortage::allocated();
  long mappings = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    mappings += line.find("chorale-soft") != std::string::npos ? 1 : 0;
  return {entries("/proc/self/fd"), entries("/proc/self/task"), mappings, objects};
}

/// The footprint a while later: a joined thread may remain visible for a moment.
inline footprint settled(const footprint& before) {
  footprint seen = now();
  for (int i = 0; i < 200 && seen.threads != before.threads; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
    seen = now();
  }
  return seen;
}

}  // namespace robustness
