// SPDX-License-Identifier: Apache-2.0
// sim0 and the simulated soft0 as tables of verbs.
#include "../../verbs/sender_of.hpp"
#include "completions.hpp"
#include "events.hpp"
#include "fabric.hpp"
#include "requester.hpp"
#include "verbs.hpp"

namespace chorale::simulation::device {
namespace {

constexpr verbs::driver table_of(const char* name, ibv_device** (*list)(int* count)) noexcept {
  return {
      .name = name,
      .finds_by_address = true,
      .makes_groups = true,
      .copies_by_core = copies_by_core,
      .keeps_order = keeps_order,
      .zero_copy_from = zero_copy_from,
      .get_device_list = list,
      .free_device_list = free_device_list,
      .open_device = open_device,
      .close_device = close_device,
      .query_device = query_device,
      .query_port = query_port,
      .query_gid = query_gid,
      .query_gid_type = query_gid_type,
      .query_pkey = query_pkey,
      .alloc_pd = alloc_pd,
      .dealloc_pd = dealloc_pd,
      .reg_mr = reg_mr,
      .dereg_mr = dereg_mr,
      .create_comp_channel = create_comp_channel,
      .destroy_comp_channel = destroy_comp_channel,
      .create_cq = create_cq,
      .resize_cq = resize_cq,
      .destroy_cq = destroy_cq,
      .get_cq_event = get_cq_event,
      .ack_cq_events = ack_cq_events,
      .create_qp = create_qp,
      .modify_qp = modify_qp,
      .query_qp = query_qp,
      .query_qp_data_in_order = query_qp_data_in_order,
      .destroy_qp = destroy_qp,
      .create_srq = create_srq,
      .modify_srq = modify_srq,
      .query_srq = query_srq,
      .destroy_srq = destroy_srq,
      .create_ah = create_ah,
      .create_ah_from_wc = verbs::create_ah_from_wc<create_ah>,
      .destroy_ah = destroy_ah,
      .attach_mcast = attach_mcast,
      .detach_mcast = detach_mcast,
      .get_async_event = get_async_event,
      .ack_async_event = ack_async_event,
      .allocate = allocate,
      .release = release,
  };
}

}  // namespace

const verbs::driver& driver(fabric::scope reaches) noexcept {
  static constexpr verbs::driver of_cluster = table_of("simulation", get_cluster_device);
  static constexpr verbs::driver of_host = table_of(verbs::software_driver_name, get_host_device);
  return reaches == fabric::scope::host ? of_host : of_cluster;
}

}  // namespace chorale::simulation::device
