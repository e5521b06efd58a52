# A virtual function of ConnectX on InfiniBand.
connectx-infiniband
grh=required        # perftest issue 393, UCX PR 4979: IBV_QPF_GRH_REQUIRED
pkeys=7fff,8006     # UCX PR 4375: row 0 is a limited member, a later row a full one
