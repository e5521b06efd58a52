# HiSilicon HIP08.
ud=no               # Linux, drivers/infiniband/hw/hns/hns_roce_qp.c: check_qp_type refuses it to programs of users
inline=32           # Linux, drivers/infiniband/hw/hns/hns_roce_hw_v2.h: HNS_ROCE_V2_MAX_SQ_INLINE
sge=64              # Linux, drivers/infiniband/hw/hns/hns_roce_hw_v2.h: HNS_ROCE_V2_MAX_SQ_SGE_NUM
multicast=0         # rdma-core, providers/hns/hns_roce_u.c: hns_common_ops has no attach_mcast
link=ethernet       # Linux, drivers/infiniband/hw/hns/hns_roce_main.c: hns_roce_get_link_layer
gids=v1/fe80::1a3d:5eff:fe00:1,v2/fe80::1a3d:5eff:fe00:1,v1/192.168.1.1,v2/192.168.1.1 # estimate: as of other RoCE devices
mtu=1024            # estimate: the largest that fits into frames of 1,500 bytes
