# SPDX-License-Identifier: Apache-2.0
"""The programs, their options and what each shows. {device}, {gid} stand for the device and its GID index.

A case is (options, what it exercises), or (options, what, reason) for one that the device refuses, where `reason` is what
the program then says. Iterations are few: this is about whether, not how fast.
"""

SINGLE = {  # one process
    "ibverbs-utils": [
        ("ibv_devices", "the device list, GUIDs", "{device}"),
        ("ibv_devinfo -d {device} -v", "extended device attributes, port, GID and P_Key tables", "PORT_ACTIVE"),
    ],
    "ucx": [
        ("ucx_info -d", "what UCX would use of each device", "Transport: rc_verbs"),
    ],
}

PAIRS = {  # a server, and a client that connects to it by TCP
    "ibverbs-utils": [
        ("ibv_rc_pingpong", "RC send/receive, polled"),
        ("ibv_rc_pingpong -c", "the same, every byte checked"),
        ("ibv_rc_pingpong -e -c", "completion channel and events"),
        ("ibv_rc_pingpong -g {gid}", "addressed by GID"),
        ("ibv_rc_pingpong -N", "ibv_wr_* posting through ibv_qp_ex"),
        ("ibv_rc_pingpong -t", "ibv_cq_ex, completion time stamps"),
        ("ibv_rc_pingpong -o -c", "on-demand paging"),
        ("ibv_rc_pingpong -o -P -c", "on-demand paging with prefetch (ibv_advise_mr)"),
        ("ibv_rc_pingpong -s 1000001 -n 50 -m 4096 -c", "messages of 1000001 bytes"),
        ("ibv_rc_pingpong -j", "device memory", "doesn't support dm"),
        ("ibv_uc_pingpong -c", "UC send/receive"),
        ("ibv_uc_pingpong -e", "UC, events"),
        ("ibv_ud_pingpong", "UD send/receive"),
        ("ibv_ud_pingpong -e", "UD, events"),
        ("ibv_ud_pingpong -g {gid}", "UD with a GRH"),
        ("ibv_srq_pingpong", "16 QPs on one shared receive queue"),
        ("ibv_srq_pingpong -e", "the same, events"),
        ("ibv_xsrq_pingpong", "XRC", "not support|doesn't support|Couldn't|XRC"),
    ],
    "perftest": [
        ("ib_write_lat", "RC RDMA write, polled in memory"),
        ("ib_write_lat -I 0", "nothing inline"),
        ("ib_write_lat -c UC", "UC RDMA write"),
        ("ib_write_bw", "64 KiB writes, 128 in flight"),
        ("ib_write_bw -b", "both ways"),
        ("ib_write_bw -q 4", "4 QPs"),
        ("ib_write_bw -s 8388608", "8 MiB writes"),
        ("ib_write_bw -c UC", "UC"),
        ("ib_write_bw --odp", "on-demand paging"),
        ("ib_send_lat", "RC send/receive"),
        ("ib_send_lat -e", "events"),
        ("ib_send_lat -c UC", "UC"),
        ("ib_send_lat -c UD", "UD"),
        ("ib_send_bw", "RC, 64 KiB"),
        ("ib_send_bw -e", "events"),
        ("ib_send_bw -b", "both ways"),
        ("ib_send_bw -q 4 --use-srq -r 64", "4 QPs on a shared receive queue"),
        ("ib_send_bw -c UC", "UC"),
        ("ib_send_bw -c UD", "UD, 4 KiB"),
        ("ib_send_bw -c UD -g", "UD multicast, joined at the subnet manager"),
        ("ib_read_lat", "RDMA read"),
        ("ib_read_lat -e", "events"),
        ("ib_read_bw", "64 KiB reads, 16 outstanding"),
        ("ib_read_bw -q 4", "4 QPs"),
        ("ib_atomic_lat", "fetch and add"),
        ("ib_atomic_lat -A CMP_AND_SWAP", "compare and swap"),
        ("ib_atomic_bw -q 4", "atomics, 4 QPs"),
        ("ib_atomic_bw -e", "atomics, events"),
    ],
    "ucx": [
        ("ucx_perftest -x rc_verbs -t am_lat", "UCT: active messages on RC"),
        ("ucx_perftest -x rc_verbs -t am_bw", "UCT: rate on RC"),
        ("ucx_perftest -x rc_verbs -t put_lat", "UCT: RDMA write"),
        ("ucx_perftest -x rc_verbs -t fadd -s 8", "UCT: atomics"),
        ("ucx_perftest -x ud_verbs -t am_lat", "UCT: active messages on UD"),
        ("ucx_perftest -x ud_verbs -t am_bw", "UCT: rate on UD"),
        ("UCX_TLS=rc_v,self ucx_perftest -t tag_lat", "UCP: matched messages on RC"),
        ("UCX_TLS=rc_v,self ucx_perftest -t tag_bw -s 1000000 -n 50", "UCP: rendezvous, RDMA read of user memory"),
        ("UCX_TLS=rc_v,self ucx_perftest -t ucp_put_lat", "UCP: put"),
        ("UCX_TLS=rc_v,self ucx_perftest -t ucp_get", "UCP: get"),
        ("UCX_TLS=rc_v,self ucx_perftest -t ucp_fadd", "UCP: atomics"),
        ("UCX_TLS=ud_v,self ucx_perftest -t tag_lat", "UCP: matched messages on UD"),
        ("UCX_TLS=ud_v,self ucx_perftest -t tag_bw -s 65536 -n 50", "UCP: 64 KiB messages in UD fragments"),
    ],
}

RING = "ring, allreduce and one-sided windows, every byte checked"
MPI = {  # under mpirun; the program is tests/third_party/mpi_ring.c
    "openmpi": [
        ("UCX_TLS=rc_v,self mpirun -n 2 --mca pml ucx --mca osc ucx mpi_ring", "Open MPI over UCX on RC: " + RING),
        ("UCX_TLS=rc_v,self mpirun -n 4 --mca pml ucx --mca osc ucx mpi_ring", "the same with 4 ranks"),
        ("UCX_TLS=ud_v,self mpirun -n 2 --mca pml ucx --mca osc ucx mpi_ring", "Open MPI over UCX on UD"),
    ],
}

GROUPS = ("ibverbs-utils", "perftest", "ucx", "openmpi")
