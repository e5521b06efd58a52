// What a communicator with the standard algorithms runs, for one transport.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/allgather/standard.hpp>
#include <chorale/algorithm/allreduce/rank_by_rank.hpp>
#include <chorale/algorithm/allreduce/standard.hpp>
#include <chorale/algorithm/alltoall/standard.hpp>
#include <chorale/algorithm/barrier/standard.hpp>
#include <chorale/algorithm/broadcast/standard.hpp>
#include <chorale/algorithm/gather/standard.hpp>
#include <chorale/algorithm/reduce/standard.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/scan/standard.hpp>
#include <chorale/algorithm/scatter/standard.hpp>
#include <chorale/calls/by_rank.hpp>
#include <chorale/calls/launch.hpp>

/// Instantiates them (`template`), or says that the library has them (`extern template`), for `Net` as
/// algorithms see it. In namespace chorale::calls. A macro, since nothing else can stand for a list of
/// declarations.
#define CHORALE_STANDARD_ALGORITHMS(instance, Net)                                                           \
  instance task<> launch<barrier::standard>(Net&, epoch);                                                    \
  instance task<> launch<broadcast::standard>(Net&, epoch, std::span<std::byte>, int);                       \
  instance task<> launch<reduce::standard>(Net&, epoch, std::span<const std::byte>, std::span<std::byte>,    \
                                           reduction, int);                                                  \
  instance task<> launch<reduce_by_rank>(Net&, epoch, std::span<const std::byte>, std::span<std::byte>,      \
                                         reduction, int);                                                    \
  instance task<> launch<allreduce::standard>(Net&, epoch, std::span<std::byte>, reduction);                 \
  instance task<> launch<allreduce::rank_by_rank>(Net&, epoch, std::span<std::byte>, reduction);             \
  instance task<> launch<allgather::standard>(Net&, epoch, blocks<std::byte>);                               \
  instance task<> launch<allgather::ring>(Net&, epoch, blocks<std::byte>);                                   \
  instance task<> launch<alltoall::standard>(Net&, epoch, blocks<const std::byte>, blocks<std::byte>);       \
  instance task<> launch<alltoall::pairwise>(Net&, epoch, blocks<const std::byte>, blocks<std::byte>);       \
  instance task<> launch<gather::standard>(Net&, epoch, std::span<const std::byte>, blocks<std::byte>, int); \
  instance task<> launch<gather::flat>(Net&, epoch, std::span<const std::byte>, blocks<std::byte>, int);     \
  instance task<> launch<scatter::standard>(Net&, epoch, blocks<const std::byte>, std::span<std::byte>,      \
                                            int);                                                            \
  instance task<> launch<scatter::flat>(Net&, epoch, blocks<const std::byte>, std::span<std::byte>, int);    \
  instance task<> launch<reduce_scatter::direct>(Net&, epoch, blocks<const std::byte>, std::span<std::byte>, \
                                                 reduction);                                                 \
  instance task<> launch<reduce_scatter_by_rank>(Net&, epoch, blocks<const std::byte>, std::span<std::byte>, \
                                                 reduction);                                                 \
  instance task<> launch<scan::standard>(Net&, epoch, std::span<std::byte>, reduction, bool)
