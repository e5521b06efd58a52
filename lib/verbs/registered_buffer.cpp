// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/uncancellable.hpp>
#include <chorale/verbs/registered_buffer.hpp>

#include "failure.hpp"

namespace chorale::verbs {

registered_buffer::memory::memory(const driver& source, ibv_context* where, std::size_t size)
    : provider(&source), context(where), bytes(size) {
  const detail::uncancellable ends_first;
  errno = 0;
  address = static_cast<std::byte*>(source.allocate(where, size));
  if (address == nullptr)
    fail(errno, fmt::format("allocation of {} bytes", size), device_name(where),
         errno == ENOMEM ? "this host has no memory left for it: smaller arrays and windows, or smaller or "
                           "fewer blocks (CHORALE_BLOCKS)"
                         : "");
}

registered_buffer::memory::memory(memory&& other) noexcept
    : provider(other.provider),
      context(other.context),
      address(std::exchange(other.address, nullptr)),
      bytes(other.bytes) {}

registered_buffer::memory& registered_buffer::memory::operator=(memory&& other) noexcept {
  if (this != &other) {
    static_cast<void>(release());
    provider = other.provider;
    context = other.context;
    address = std::exchange(other.address, nullptr);
    bytes = other.bytes;
  }
  return *this;
}

int registered_buffer::memory::release() noexcept {
  if (address == nullptr) return 0;
  const detail::uncancellable ends_first;
  return errno_of(provider->release(context, std::exchange(address, nullptr), bytes));
}

namespace {

ibv_context* context_of(const protection_domain& domain) {
  if (domain.native() == nullptr) fail_closed("allocation of a registered buffer", "protection domain");
  return domain.native()->context;
}

}  // namespace

registered_buffer::registered_buffer(const protection_domain& domain, std::size_t bytes, int access)
    : bytes_(bytes),
      memory_(domain.provider(), context_of(domain), std::max<std::size_t>(bytes, 1)),
      region_(domain, memory_.address, memory_.bytes, access) {}

bool registered_buffer::contains(const void* first, std::size_t length) const noexcept {
  const auto start = reinterpret_cast<std::uintptr_t>(data());
  const auto wanted = reinterpret_cast<std::uintptr_t>(first);
  return data() != nullptr && wanted >= start && wanted - start <= bytes_ &&
         length <= bytes_ - (wanted - start);
}

void registered_buffer::close() {
  region_.close();
  if (const int failure = memory_.release(); failure != 0)
    fail(failure, fmt::format("release of {} bytes", bytes_), device_name(memory_.context));
}

}  // namespace chorale::verbs
