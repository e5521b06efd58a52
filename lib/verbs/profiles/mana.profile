# Microsoft Azure Network Adapter.
ud=no               # rdma-core, providers/mana/qp.c: mana_create_qp makes RC and raw packets alone
srq=0               # rdma-core, providers/mana/mana.c: mana_ctx_ops has no create_srq
atomics=none        # Linux, drivers/infiniband/hw/mana/mr.c: no IB_ACCESS_REMOTE_ATOMIC among the rights
inline=0            # rdma-core, providers/mana/wr.c: mana_ib_rc_post_send_request heeds no IBV_SEND_INLINE
inline_over=granted # estimate: the request is ignored
multicast=0         # rdma-core, providers/mana/mana.c: mana_ctx_ops has no attach_mcast
link=ethernet       # Linux, drivers/infiniband/hw/mana/main.c: mana_ib_get_link_layer
gids=v2/fe80::7e1e:52ff:fe00:1,v2/10.0.0.4 # Linux, drivers/infiniband/hw/mana/main.c: RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP alone
mtu=1024            # Linux, drivers/infiniband/hw/mana/main.c: active_mtu is that of the network interface, here of 1,500 bytes
speed=100           # Linux, drivers/infiniband/hw/mana/main.c: IB_WIDTH_4X and IB_SPEED_EDR
