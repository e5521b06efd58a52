# Intel E810 in RoCE mode.
srq=0               # deepseek-ai/3FS issue 192: max_srq, and UCX issue 9736
atomics=none        # deepseek-ai/3FS issue 192: ATOMIC_NONE
inline=101          # Linux, drivers/infiniband/hw/irdma: IRDMA_MAX_INLINE_DATA_SIZE
sge=6               # deepseek-ai/3FS issue 192: max_sge
depth=8127          # deepseek-ai/3FS issue 192: max_qp_wr
cqe=1048574         # deepseek-ai/3FS issue 192: max_cqe
queue_pairs=4092    # deepseek-ai/3FS issue 192: max_qp
rd_atomic=8         # deepseek-ai/3FS issue 192: max_qp_rd_atom and max_qp_init_rd_atom
address_handles=131072 # deepseek-ai/3FS issue 192: max_ah
multicast=4096      # deepseek-ai/3FS issue 192: max_mcast_grp
max_message=2145386496 # Linux, drivers/infiniband/hw/irdma: IRDMA_MAX_SQ_PAYLOAD_SIZE
link=ethernet       # as the name says
gids=v2/fe80::6efe:54ff:fe40:c0d0,v2/192.168.1.1 # estimate: RoCE v2 alone, the link-local row first
mtu=1024            # estimate: the largest that fits into frames of 1,500 bytes
speed=100           # estimate: the faster model
