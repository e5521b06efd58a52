# A device with all that the InfiniBand architecture leaves to choice left out. [IBA]: InfiniBand Architecture Specification, volume 1.
srq=0               # [IBA] 10.2.9: shared receive queues are optional
inline=0            # not in [IBA]: an extension of verbs
inline_over=granted # UCX issue 750: hfi1 and TrueScale do so
atomics=none        # [IBA] 9.4.5: atomic operations are optional
rd_atomic=1         # [IBA] 9.4.4: at least one RDMA read
