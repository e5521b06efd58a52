# ConnectX-5 and later where the fabric routes adaptively: packets of a queue pair overtake each other.
connectx-infiniband
placement=unordered # NVIDIA/nccl issue 850, deepseek-ai/DeepEP issue 40: data behind the word that announced them
in_order=no         # linux-rdma/rdma-core PR 1009: what the device answers then
