// SPDX-License-Identifier: Apache-2.0
// The software device as a table of verbs.
#include <chorale/verbs/driver.hpp>

#include "../verbs/sender_of.hpp"
#include "device.hpp"
#include "queue_pair.hpp"

namespace chorale::verbs {

const driver* soft() noexcept {
  static constexpr driver table{
      .name = software_driver_name,
      .finds_by_address = true,
      .makes_groups = true,
      .knows_children = true,
      .copies_by_core = [](ibv_context*) noexcept { return true; },
      .keeps_order =
          [](ibv_context* context) noexcept {
            return chorale::soft::process_of(context).motor().settings.placed ==
                   chorale::soft::placement::ordered;
          },
      .zero_copy_from = chorale::soft::zero_copy_from,
      .get_device_list = chorale::soft::get_device_list,
      .free_device_list = chorale::soft::free_device_list,
      .open_device = chorale::soft::open_device,
      .close_device = chorale::soft::close_device,
      .query_device = chorale::soft::query_device,
      .query_port = chorale::soft::query_port,
      .query_gid = chorale::soft::query_gid,
      .query_gid_type = chorale::soft::query_gid_type,
      .query_pkey = chorale::soft::query_pkey,
      .alloc_pd = chorale::soft::alloc_pd,
      .dealloc_pd = chorale::soft::dealloc_pd,
      .reg_mr = chorale::soft::reg_mr,
      .dereg_mr = chorale::soft::dereg_mr,
      .create_comp_channel = chorale::soft::create_comp_channel,
      .destroy_comp_channel = chorale::soft::destroy_comp_channel,
      .create_cq = chorale::soft::create_cq,
      .resize_cq = chorale::soft::resize_cq,
      .destroy_cq = chorale::soft::destroy_cq,
      .get_cq_event = chorale::soft::get_cq_event,
      .ack_cq_events = chorale::soft::ack_cq_events,
      .create_qp = chorale::soft::create_qp,
      .modify_qp = chorale::soft::modify_qp,
      .query_qp = chorale::soft::query_qp,
      .query_qp_data_in_order = chorale::soft::query_qp_data_in_order,
      .destroy_qp = chorale::soft::destroy_qp,
      .create_srq = chorale::soft::create_srq,
      .modify_srq = chorale::soft::modify_srq,
      .query_srq = chorale::soft::query_srq,
      .destroy_srq = chorale::soft::destroy_srq,
      .create_ah = chorale::soft::create_ah,
      .create_ah_from_wc = create_ah_from_wc<chorale::soft::create_ah>,
      .destroy_ah = chorale::soft::destroy_ah,
      .attach_mcast = chorale::soft::attach_mcast,
      .detach_mcast = chorale::soft::detach_mcast,
      .get_async_event = chorale::soft::get_async_event,
      .ack_async_event = chorale::soft::ack_async_event,
      .allocate = chorale::soft::allocate,
      .release = chorale::soft::release,
      .map = chorale::soft::map_remote,
      .unmap = chorale::soft::unmap_remote,
  };
  return &table;
}

}  // namespace chorale::verbs
