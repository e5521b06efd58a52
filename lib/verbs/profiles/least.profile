# A device with all that the InfiniBand architecture leaves to choice left out. [IBA]: InfiniBand Architecture Specification, volume 1.
srq=0               # [IBA] chapter 10, an option; deepseek-ai/3FS issue 192: irdma has none
inline=0            # not in [IBA]: an extension of verbs
inline_over=granted # UCX issue 750: hfi1 and TrueScale do so
atomics=none        # [IBA] chapter 9, an option; ibv_query_device(3): IBV_ATOMIC_NONE
rd_atomic=1         # estimate: what every device has that answers RDMA reads
