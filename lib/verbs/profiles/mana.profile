# Microsoft Azure Network Adapter.
ud=no               # rdma-core, providers/mana: programs of users get RC and raw packets
srq=0               # Linux, drivers/infiniband/hw/mana/device.c: no create_srq
atomics=none        # Linux, drivers/infiniband/hw/mana/mr.c: no IB_ACCESS_REMOTE_ATOMIC among the rights
multicast=0         # Linux, drivers/infiniband/hw/mana/device.c: no attach_mcast
link=ethernet       # Linux, drivers/infiniband/hw/mana/main.c: mana_ib_get_link_layer
gids=v2/fe80::7e1e:52ff:fe00:1,v2/10.0.0.4 # Linux, drivers/infiniband/hw/mana/main.c: RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP alone
mtu=1024            # Linux, drivers/infiniband/hw/mana/main.c: active_mtu is that of the network interface, here of 1,500 bytes
speed=100           # Linux, drivers/infiniband/hw/mana/main.c: IB_WIDTH_4X and IB_SPEED_EDR
