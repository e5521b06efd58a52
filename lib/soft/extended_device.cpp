// SPDX-License-Identifier: Apache-2.0
// Extensible queries of verbs: each fills as many bytes as the program's structure has.
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

#include "../core/pages.hpp"
#include "device.hpp"
#include "extended.hpp"
#include "memory.hpp"

namespace chorale::soft {
namespace {

template <class T>
void hand_out(const T& filled, T* out, std::size_t bytes) noexcept {
  auto* raw = reinterpret_cast<unsigned char*>(out);
  std::memcpy(raw, &filled, std::min(bytes, sizeof filled));
  if (bytes > sizeof filled) std::memset(raw + sizeof filled, 0, bytes - sizeof filled);
}

}  // namespace

void fill_extended(verbs_context& v) noexcept {
  v.query_port = query_port_ex;
  v.advise_mr = advise_mr;
  v.query_rt_values = query_rt_values;
  v.create_cq_ex = create_cq_ex;
  v.query_device_ex = query_device_ex;
  v.create_qp_ex = create_qp_ex;
}

int query_device_ex(ibv_context* c, const ibv_query_device_ex_input* input, ibv_device_attr_ex* out,
                    std::size_t bytes) noexcept {
  if ((input != nullptr && input->comp_mask != 0) || bytes < sizeof(ibv_device_attr)) return EINVAL;
  ibv_device_attr_ex a{};
  if (const int status = query_device(c, &a.orig_attr)) return status;
  // No page is ever pinned, so every region is on-demand.
  constexpr std::uint32_t datagrams = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
  constexpr std::uint32_t unreliable = datagrams | IBV_ODP_SUPPORT_WRITE;
  a.odp_caps.general_caps = IBV_ODP_SUPPORT;
  a.odp_caps.per_transport_caps.ud_odp_caps = datagrams;
  a.odp_caps.per_transport_caps.uc_odp_caps = unreliable;
  a.odp_caps.per_transport_caps.rc_odp_caps = unreliable | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC;
  a.completion_timestamp_mask = ~std::uint64_t{0};
  a.hca_core_clock = 1'000'000;  // kHz
  a.device_cap_flags_ex = a.orig_attr.device_cap_flags;
  a.phys_port_cnt_ex = 1;
  hand_out(a, out, bytes);
  return 0;
}

int query_port_ex(ibv_context* c, std::uint8_t port, ibv_port_attr* out, std::size_t bytes) noexcept {
  ibv_port_attr a{};
  if (const int status = query_port(c, port, &a)) return status;
  hand_out(a, out, bytes);
  return 0;
}

int query_gid_ex(ibv_context* c, std::uint32_t port, std::uint32_t index, ibv_gid_entry* out,
                 std::uint32_t flags, std::size_t bytes) noexcept {
  if (flags != 0) return EINVAL;
  if (port != 1) return EINVAL;
  ibv_gid_entry entry{};
  if (query_gid_type(c, 1, static_cast<int>(index), &entry.gid_type) != 0) return ENODATA;
  query_gid(c, 1, static_cast<int>(index), &entry.gid);
  entry.gid_index = index;
  entry.port_num = 1;
  hand_out(entry, out, bytes);
  return 0;
}

ssize_t query_gid_table(ibv_context* c, ibv_gid_entry* entries, std::size_t count, std::uint32_t flags,
                        std::size_t bytes) noexcept {
  ibv_port_attr port{};
  query_port(c, 1, &port);
  const auto rows = static_cast<std::size_t>(port.gid_tbl_len);
  if (flags != 0 || count < rows) return -EINVAL;
  auto* row = reinterpret_cast<unsigned char*>(entries);
  for (std::uint32_t i = 0; i < rows; ++i, row += bytes)
    query_gid_ex(c, 1, i, reinterpret_cast<ibv_gid_entry*>(row), 0, bytes);
  return static_cast<ssize_t>(rows);
}

int query_rt_values(ibv_context*, ibv_values_ex* values) noexcept {
  if ((values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) != 0) {
    const std::int64_t now = now_ns();
    values->raw_clock = {now / 1'000'000'000, now % 1'000'000'000};
  }
  values->comp_mask &= IBV_VALUES_MASK_RAW_CLOCK;
  return 0;
}

int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* list,
              std::uint32_t count) noexcept {
  if ((flags & ~static_cast<std::uint32_t>(IBV_ADVISE_MR_FLAG_FLUSH)) != 0) return EINVAL;
  if (advice != IBV_ADVISE_MR_ADVICE_PREFETCH && advice != IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE &&
      advice != IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
    return EOPNOTSUPP;
  const std::uint32_t access = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE ? IBV_ACCESS_LOCAL_WRITE : 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!local_range(process_of(pd->context).regions(), list[i], static_cast<protection_domain*>(pd)->id,
                     access))
      return ENOENT;
    const detail::page_range pages = detail::pages_around(list[i].addr, list[i].length);
    if (pages.bytes != 0 && madvise(pages.data(), pages.bytes, MADV_WILLNEED) != 0 && errno == ENOMEM)
      return EFAULT;
  }
  return 0;
}

__be64 device_guid(ibv_device*) noexcept {
  process* self = process::join();
  if (self == nullptr) return 0;
  const __be64 guid = htobe64(self->fabric().guid);
  self->leave();
  return guid;
}

}  // namespace chorale::soft
