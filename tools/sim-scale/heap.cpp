// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <utility>

#include "table.hpp"

namespace {

std::size_t held = 0;
std::size_t peak = 0;

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc{};
  held += malloc_usable_size(memory);
  peak = std::max(peak, held);
  return memory;
}

void give_back(void* memory) noexcept {
  held -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(std::malloc(std::max<std::size_t>(bytes, 1)));
}
void* operator new(std::size_t bytes, std::align_val_t boundary) {
  const auto step = static_cast<std::size_t>(boundary);
  return counted(std::aligned_alloc(step, (bytes + step - 1) / step * step));
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give_back(memory);
}

namespace sim_scale {

std::size_t take_peak_of_heap() noexcept {
  return std::exchange(peak, held);
}

}  // namespace sim_scale
