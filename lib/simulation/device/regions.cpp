// SPDX-License-Identifier: Apache-2.0
#include "regions.hpp"

#include "hca.hpp"

namespace chorale::simulation::device {
namespace {

/// A permutation of the 16-bit numbers.
constexpr std::uint32_t scattered(std::uint32_t serial) noexcept {
  return (serial * 0x9e37U + 0x7f4aU) & 0xffffU;
}

std::byte* inside(const memory_region& region, const reach& wanted) noexcept {
  const auto begin = reinterpret_cast<std::uint64_t>(region.addr);
  if (region.pd != wanted.domain || (region.access & wanted.access) != wanted.access ||
      wanted.address < begin || wanted.bytes > region.length ||
      wanted.address - begin > region.length - wanted.bytes)
    return nullptr;
  return static_cast<std::byte*>(region.addr) + (wanted.address - begin);
}

}  // namespace

bool region_table::add(memory_region& region) {
  std::uint32_t index = 0;
  if (!free_.empty()) {
    index = free_.back();
    free_.pop_back();
  } else {
    if (all_.size() > max_regions) return false;
    index = static_cast<std::uint32_t>(all_.size());
    all_.push_back(nullptr);
    free_.reserve(all_.size());  // so that freeing an index needs no memory
  }
  all_[index] = &region;
  region.handle = index;
  region.lkey = index << 16 | scattered(serial_);
  region.rkey = index << 16 | (scattered(serial_) ^ 0x5555U);
  ++serial_;
  return true;
}

void region_table::remove(const memory_region& region) noexcept {
  all_[region.handle] = nullptr;
  free_.push_back(region.handle);
}

const memory_region* region_table::at(std::uint32_t key) const noexcept {
  const std::uint32_t index = key >> 16;
  return index < all_.size() ? all_[index] : nullptr;
}

std::byte* region_table::local(std::uint32_t key, const reach& wanted) const noexcept {
  const memory_region* const region = at(key);
  return region != nullptr && region->lkey == key ? inside(*region, wanted) : nullptr;
}

std::byte* region_table::remote(std::uint32_t key, const reach& wanted) const noexcept {
  const memory_region* const region = at(key);
  return region != nullptr && region->rkey == key ? inside(*region, wanted) : nullptr;
}

}  // namespace chorale::simulation::device
