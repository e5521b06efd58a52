// SPDX-License-Identifier: Apache-2.0
// Requests to join or leave a multicast group, which programs send to the subnet manager of InfiniBand
// through libibumad. soft0 needs no subnet manager, so all such requests on its port succeed.
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <vector>

#include "../core/immortal.hpp"

namespace {

constexpr int soft_port = 0x50f70;  ///< not a descriptor: what umad_open_port returns for soft0
// Management datagrams (IBTA 13.4, 15.2): header, RMPP, SA header, then an MCMemberRecord.
constexpr std::size_t method_at = 3;
constexpr std::size_t status_at = 4;
constexpr std::size_t group_at = 56;
constexpr std::size_t lid_at = group_at + 36;
constexpr std::size_t record_end = group_at + 52;
constexpr unsigned char get_method = 0x01, set_method = 0x02, delete_method = 0x15, response_bit = 0x80;

std::mutex waiting_mutex;
chorale::detail::immortal<std::vector<std::vector<unsigned char>>>
    waiting;  // answers that have not been received yet

template <class Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Bytes before the datagram, which depend on the kernel interface that libibumad has found.
std::size_t header_bytes() noexcept {
  static auto* const real = next<std::size_t()>("umad_size");
  return real == nullptr ? 64 : real();
}

/// Each group has one multicast LID, whoever joins it first.
std::uint16_t lid_of(const unsigned char* group) noexcept {
  std::uint32_t hash = 2166136261U;
  for (int i = 0; i < 16; ++i) hash = (hash ^ group[i]) * 16777619U;
  return static_cast<std::uint16_t>(0xc000U + (hash ^ hash >> 16) % 0x3ffeU);
}

std::vector<unsigned char> answer(const void* request, int length) {
  const auto* bytes = static_cast<const unsigned char*>(request);
  std::vector<unsigned char> reply(bytes, bytes + header_bytes() + length);
  unsigned char* mad = reply.data() + header_bytes();
  if (mad[method_at] == set_method) mad[method_at] = get_method;
  mad[method_at] = static_cast<unsigned char>(mad[method_at] | response_bit);
  mad[status_at] = mad[status_at + 1] = 0;
  const std::uint16_t lid = lid_of(mad + group_at);
  mad[lid_at] = static_cast<unsigned char>(lid >> 8);
  mad[lid_at + 1] = static_cast<unsigned char>(lid);
  return reply;
}

bool is_membership(const void* request, int length) noexcept {
  if (length < static_cast<int>(record_end)) return false;
  const unsigned char method = static_cast<const unsigned char*>(request)[header_bytes() + method_at];
  return method == set_method || method == delete_method;
}

}  // namespace

extern "C" {

int umad_init(void) {
  return 0;  // libibumad's check for the kernel's module would fail
}

int umad_open_port(const char* device, int port) {
  if (device != nullptr && std::strcmp(device, "soft0") == 0) return soft_port;
  static auto* const real = next<int(const char*, int)>("umad_open_port");
  return real == nullptr ? -ENODEV : real(device, port);
}

int umad_close_port(int id) {
  if (id == soft_port) return 0;
  static auto* const real = next<int(int)>("umad_close_port");
  return real == nullptr ? -EINVAL : real(id);
}

int umad_register(int id, int management_class, int version, std::uint8_t rmpp, long* methods) {
  if (id == soft_port) return 0;
  static auto* const real = next<int(int, int, int, std::uint8_t, long*)>("umad_register");
  return real == nullptr ? -EINVAL : real(id, management_class, version, rmpp, methods);
}

int umad_unregister(int id, int agent) {
  if (id == soft_port) return 0;
  static auto* const real = next<int(int, int)>("umad_unregister");
  return real == nullptr ? -EINVAL : real(id, agent);
}

int umad_send(int id, int agent, void* request, int length, int timeout_ms, int retries) {
  if (id != soft_port) {
    static auto* const real = next<int(int, int, void*, int, int, int)>("umad_send");
    return real == nullptr ? -EINVAL : real(id, agent, request, length, timeout_ms, retries);
  }
  if (!is_membership(request, length)) return -EOPNOTSUPP;
  try {
    const std::lock_guard lock(waiting_mutex);
    waiting->push_back(answer(request, length));
    return 0;
  } catch (...) {
    return -ENOMEM;
  }
}

int umad_recv(int id, void* reply, int* length, int timeout_ms) {
  if (id != soft_port) {
    static auto* const real = next<int(int, void*, int*, int)>("umad_recv");
    return real == nullptr ? -EINVAL : real(id, reply, length, timeout_ms);
  }
  const std::lock_guard lock(waiting_mutex);
  if (waiting->empty()) return -ETIMEDOUT;
  const std::vector<unsigned char>& oldest = waiting->front();
  const auto bytes = static_cast<int>(oldest.size() - header_bytes());
  if (*length < bytes) {
    *length = bytes;
    return -ENOSPC;
  }
  std::memcpy(reply, oldest.data(), oldest.size());
  *length = bytes;
  waiting->erase(waiting->begin());
  return 0;  // the agent
}

}  // extern "C"
