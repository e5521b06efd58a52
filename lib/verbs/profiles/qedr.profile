# Marvell (QLogic) FastLinQ in RoCE mode.
ud=no               # rdma-core, providers/qedr/qelr_main.c: qelr_ctx_ops has no create_ah
sge=4               # UCX issue 5148: max_sge
depth=32767         # UCX issue 5148: max_qp_wr
cqe=8388480         # UCX issue 5148: max_cqe
queue_pairs=8568    # UCX issue 5148: max_qp
rd_atomic=32        # UCX issue 5148: max_qp_rd_atom and max_qp_init_rd_atom
inline=256          # Linux, include/linux/qed/roce_common.h: ROCE_REQ_MAX_INLINE_DATA_SIZE
multicast=0         # rdma-core, providers/qedr/qelr_main.c: qelr_ctx_ops has no attach_mcast
link=ethernet       # Linux, drivers/infiniband/hw/qedr/main.c: qedr_link_layer
gids=v1/fe80::f6e9:d4ff:fe61:b108,v2/fe80::f6e9:d4ff:fe61:b108,v1/192.168.1.1,v2/192.168.1.1 # estimate: as of other RoCE devices
mtu=1024            # estimate: the largest that fits into frames of 1,500 bytes
