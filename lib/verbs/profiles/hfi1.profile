# Intel and Cornelis Omni-Path by verbs.
inline=0            # Linux, drivers/infiniband/sw/rdmavt/qp.c: max_inline_data is set to 0
inline_over=granted # UCX issue 750, libfabric PR 1938: without complaint
atomics=global      # estimate: the driver, in software, locks each
sge=96              # Linux, drivers/infiniband/hw/hfi1/verbs.c: hfi1_max_sges
queue_pairs=32768   # Linux, drivers/infiniband/hw/hfi1/verbs.c: hfi1_max_qps
multicast=16384     # Linux, drivers/infiniband/hw/hfi1/verbs.c: hfi1_max_mcast_grps
link=infiniband     # estimate: as which Omni-Path presents itself to verbs
speed=100           # estimate: Omni-Path 100
