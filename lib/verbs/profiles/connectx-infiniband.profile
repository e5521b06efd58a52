# ConnectX-5 on InfiniBand.
inline=512          # libfabric PR 3790: UD has 512 bytes on ConnectX-4, RC 988
depth=32768         # Open MPI PR 6137: max_qp_wr
sge=30              # Open MPI PR 6137: max_sge
cqe=4194303         # Open MPI PR 6137: max_cqe
queue_pairs=262144  # Open MPI PR 6137: max_qp
rd_atomic=16        # Open MPI PR 6137: max_qp_rd_atom and max_qp_init_rd_atom
atomics=hca         # Open MPI PR 6137: ATOMIC_HCA
max_message=1G      # estimate: max_msg_sz of its ports is 0x40000000
multicast=2097152   # UCX issue 10317: max_mcast_grp of ConnectX-6
link=infiniband     # as the name says
speed=100           # estimate: EDR, the fastest of ConnectX-5
