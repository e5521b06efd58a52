# Broadcom NetXtreme-E.
inline=96           # Linux, drivers/infiniband/hw/bnxt_re/qplib_fp.h: BNXT_QPLIB_SWQE_MAX_INLINE_LENGTH
atomics=none        # Linux, drivers/infiniband/hw/bnxt_re/ib_verbs.c: unless the platform routes atomic operations
sge=6               # estimate: what the driver allowed before it asked the firmware
multicast=0         # rdma-core, providers/bnxt_re/main.c: bnxt_re_cntx_ops has no attach_mcast
link=ethernet       # Linux, drivers/infiniband/hw/bnxt_re: IB_LINK_LAYER_ETHERNET
gids=v1/fe80::be97:e1ff:fe00:1,v2/fe80::be97:e1ff:fe00:1,v1/192.168.1.1,v2/192.168.1.1 # estimate: as of other RoCE devices
mtu=1024            # estimate: the largest that fits into frames of 1,500 bytes
