// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <new>
#include <sys/mman.h>

#include "../../verbs/profile_rules.hpp"
#include "fabric.hpp"
#include "verbs.hpp"

namespace chorale::simulation::device {
namespace {

constexpr std::size_t page_bytes = 4096;

/// Spends processor time, during which others run.
void spend(hca& nic, duration time) {
  nic.owner().time().charge(time, activity::registration);
  nic.owner().time().settle();
}

/// Null if adapters fetch payloads, and at the end of a simulation, when memory of the program may be left.
core_copies* copies_of(const ibv_context* c) noexcept {
  return fabric::current() == nullptr ? nullptr : hca_of(c).owner().copies();
}

constexpr std::size_t rounded(std::size_t bytes) noexcept {
  return (bytes + page_bytes - 1) & ~(page_bytes - 1);
}

}  // namespace

ibv_pd* alloc_pd(ibv_context* c) noexcept {
  return unless_short([&]() -> ibv_pd* { return make_object<protection_domain>(c); });
}

int dealloc_pd(ibv_pd* base) noexcept {
  auto* const pd = static_cast<protection_domain*>(base);
  if (pd->users != 0) return EBUSY;
  destroy_object(pd);
  return 0;
}

ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t bytes, int access) noexcept {
  context& c = context::of(pd->context);
  errno = verbs::check_registration(*c.profile, reinterpret_cast<std::uint64_t>(address), bytes, access,
                                    c.in_use.registered_bytes);
  if (errno != 0) return nullptr;
  hca& nic = hca_of(pd->context);
  spend(nic, nic.owner().costs().register_memory(bytes));
  return unless_short([&]() -> ibv_mr* {
    auto* const region = make_object<memory_region>(pd->context);
    region->pd = pd;
    region->addr = address;
    region->length = bytes;
    region->access = access;
    if (!nic.regions.add(*region)) {
      destroy_object(region);
      throw std::bad_alloc{};
    }
    c.in_use.registered_bytes += bytes;
    ++static_cast<protection_domain*>(pd)->users;
    return region;
  });
}

int dereg_mr(ibv_mr* base) noexcept {
  auto* const region = static_cast<memory_region*>(base);
  hca& nic = hca_of(region->context);
  spend(nic, nic.owner().costs().deregister_memory(region->length));
  nic.regions.remove(*region);
  nic.owner().forget(region->addr, region->length);
  context::of(region->context).in_use.registered_bytes -= region->length;
  --static_cast<protection_domain*>(region->pd)->users;
  destroy_object(region);
  return 0;
}

void* allocate(ibv_context* c, std::size_t bytes) noexcept {
  if (bytes == 0 || rounded(bytes) < bytes) {
    errno = EINVAL;
    return nullptr;
  }
  void* const mapped =
      mmap(nullptr, rounded(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  try {
    if (core_copies* const copies = copies_of(c)) copies->shares(mapped, rounded(bytes));
  } catch (const std::bad_alloc&) {
    munmap(mapped, rounded(bytes));
    errno = ENOMEM;
    return nullptr;
  }
  return mapped;
}

int release(ibv_context* c, void* address, std::size_t bytes) noexcept {
  if (core_copies* const copies = copies_of(c)) copies->shares_no_more(address, rounded(bytes));
  return munmap(address, rounded(bytes)) == 0 ? 0 : errno;
}

}  // namespace chorale::simulation::device
