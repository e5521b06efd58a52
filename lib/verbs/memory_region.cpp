// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/core/uncancellable.hpp>
#include <chorale/verbs/memory_region.hpp>

#include "diagnosis.hpp"
#include "failure.hpp"

namespace chorale::verbs {
namespace {

std::string registration_remedy(const protection_domain& domain, int errnum, std::size_t bytes, int access) {
  ibv_device_attr limits{};
  if (domain.provider().query_device(domain.native()->context, &limits) == 0 && limits.max_mr_size != 0 &&
      bytes > limits.max_mr_size)
    return fmt::format("the device registers at most {} bytes at a time (max_mr_size): use several regions",
                       limits.max_mr_size);
  constexpr int writes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  if ((access & writes) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0)
    return "IBV_ACCESS_REMOTE_WRITE and IBV_ACCESS_REMOTE_ATOMIC need IBV_ACCESS_LOCAL_WRITE as well";
  switch (errnum) {
    case ENOMEM:
      return "the memory could not be pinned: " + memlock_remedy();
    case EFAULT:
      return "part of the range is not mapped, or is read-only while the access asks for writing";
    case EINVAL:
      return "the access flags are not supported, or the range wraps around";
    case EOPNOTSUPP:
      return "the device does not support these access flags";
    default:
      return {};
  }
}

}  // namespace

memory_region::memory_region(const protection_domain& domain, void* address, std::size_t bytes, int access)
    : address_(static_cast<std::byte*>(address)), bytes_(bytes) {
  if (domain.native() == nullptr) fail_closed("ibv_reg_mr", "protection domain");
  const std::string object =
      fmt::format("{} bytes at {} on {}", bytes, address, device_name(domain.native()->context));
  if (address == nullptr || bytes == 0)
    throw error(
        errc::invalid_argument,
        fmt::format("ibv_reg_mr of {}: a memory region needs an address and at least one byte", object));
  const detail::uncancellable ends_first;
  errno = 0;
  ibv_mr* const made = domain.provider().reg_mr(domain.native(), address, bytes, access);
  if (made == nullptr) {
    const int failure = errno;
    fail(failure, "ibv_reg_mr", object, registration_remedy(domain, failure, bytes, access));
  }
  handle_ = {domain.provider(), made};
}

bool memory_region::contains(const void* first, std::size_t length) const noexcept {
  const auto start = reinterpret_cast<std::uintptr_t>(address_);
  const auto wanted = reinterpret_cast<std::uintptr_t>(first);
  return native() != nullptr && wanted >= start && wanted - start <= bytes_ &&
         length <= bytes_ - (wanted - start);
}

void memory_region::close() {
  if (const int failure = handle_.close(); failure != 0)
    fail(failure, "ibv_dereg_mr",
         fmt::format("{} bytes at {} on {}", bytes_, fmt::ptr(address_), device_name(native()->context)));
}

}  // namespace chorale::verbs
