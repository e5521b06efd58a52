// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <mutex>
#include <sys/mman.h>

#include <chorale/verbs/driver.hpp>

#include "../core/helper_thread.hpp"
#include "../core/over_forks.hpp"

namespace chorale::verbs {

#ifdef CHORALE_HAVE_IBVERBS

namespace {

/// Ranks may be threads, and concurrent initialisations leak memory.
struct fork_preparation {
  std::mutex one_at_a_time;
};

[[gnu::constructor]] void share_no_preparation_with_children() {
  detail::of_process<fork_preparation>::handle_forks();
}

/// Without copy-on-fork in the kernel (before 5.12), the parent's first write to a registered page after
/// fork(), also within system(), moves the page: then adapter and program see different memory. libibverbs
/// can keep registered pages with the parent, if asked before its first use.
void prepare_for_fork() noexcept {
  const std::lock_guard hold{detail::of_process<fork_preparation>::get().one_at_a_time};
  if (ibv_is_fork_initialized() == IBV_FORK_DISABLED) static_cast<void>(ibv_fork_init());
}

// Lambdas where the name in verbs.h is a macro or an inline function, and where the contract differs.
const driver libibverbs{
    .name = "rdma-core",
    .get_device_list =
        [](int* count) {
          return detail::foreign_call([&] {
            prepare_for_fork();
            return ibv_get_device_list(count);
          });
        },
    .free_device_list = ibv_free_device_list,
    .open_device =
        [](ibv_device* which) { return detail::foreign_call([&] { return ibv_open_device(which); }); },
    .close_device = ibv_close_device,
    .query_device = ibv_query_device,
    .query_port = [](ibv_context* context, std::uint8_t port,
                     ibv_port_attr* attributes) { return ibv_query_port(context, port, attributes); },
    .query_gid = ibv_query_gid,
    .query_gid_type =
        [](ibv_context* context, std::uint8_t port, int index, std::uint32_t* type) {
          ibv_gid_entry entry{};
          const int failure = ibv_query_gid_ex(context, port, static_cast<std::uint32_t>(index), &entry, 0);
          if (failure == 0) *type = entry.gid_type;
          return failure;
        },
    .query_pkey = ibv_query_pkey,
    .alloc_pd = ibv_alloc_pd,
    .dealloc_pd = ibv_dealloc_pd,
    .reg_mr = [](ibv_pd* pd, void* address, std::size_t bytes,
                 int access) { return ibv_reg_mr(pd, address, bytes, access); },
    .dereg_mr = ibv_dereg_mr,
    .create_comp_channel =
        [](ibv_context* context) {
          return detail::foreign_call([&] { return ibv_create_comp_channel(context); });
        },
    .destroy_comp_channel = ibv_destroy_comp_channel,
    .create_cq = ibv_create_cq,
    .resize_cq = ibv_resize_cq,
    .destroy_cq = ibv_destroy_cq,
    .get_cq_event = ibv_get_cq_event,
    .ack_cq_events = ibv_ack_cq_events,
    .create_qp = ibv_create_qp,
    .modify_qp = ibv_modify_qp,
    .query_qp = ibv_query_qp,
    .query_qp_data_in_order = ibv_query_qp_data_in_order,
    .destroy_qp = ibv_destroy_qp,
    .create_srq = ibv_create_srq,
    .modify_srq = ibv_modify_srq,
    .query_srq = ibv_query_srq,
    .destroy_srq = ibv_destroy_srq,
    .create_ah = ibv_create_ah,
    .create_ah_from_wc = ibv_create_ah_from_wc,
    .destroy_ah = ibv_destroy_ah,
    .attach_mcast = ibv_attach_mcast,
    .detach_mcast = ibv_detach_mcast,
    .get_async_event = ibv_get_async_event,
    .ack_async_event = ibv_ack_async_event,
    .allocate = [](ibv_context*, std::size_t bytes) -> void* {
      void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      return memory == MAP_FAILED ? nullptr : memory;
    },
    .release = [](ibv_context*, void* address,
                  std::size_t bytes) { return munmap(address, bytes) == 0 ? 0 : errno; },
};

}  // namespace

const driver* rdma_core() noexcept {
  return &libibverbs;
}

#else

const driver* rdma_core() noexcept {
  return nullptr;
}

#endif

}  // namespace chorale::verbs
