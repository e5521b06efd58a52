// explain: which algorithm serves a call.
#pragma once

#include <cstddef>
#include <string>

#include <chorale/calls/caller.hpp>
#include <chorale/core/type_name.hpp>

namespace chorale::calls {

/// Over the layers of all operations: the algorithms are members of `Base`.
template <class Base>
class explain_calls : public Base {
 public:
  using Base::Base;

  /// Says which algorithm serves operation `what` with `bytes` (of one rank's message, or of one block for
  /// operations of blocks), and why. Not collective. Operations with uneven blocks are served as the even
  /// ones are if the algorithm can, else by allgather::ring, alltoall::pairwise, gather::flat or
  /// scatter::flat.
  [[nodiscard]] std::string explain(operation what, std::size_t bytes = 0) {
    switch (what) {
      case operation::barrier:
        return say<typename Base::barrier_algorithm>(what, bytes);
      case operation::broadcast:
        return say<typename Base::broadcast_algorithm>(what, bytes);
      case operation::reduce:
        return say<typename Base::reduce_algorithm>(what, bytes);
      case operation::allreduce:
        return say<typename Base::allreduce_algorithm>(what, bytes);
      case operation::allgather:
      case operation::allgatherv:
        return say<typename Base::allgather_algorithm>(what, bytes);
      case operation::alltoall:
      case operation::alltoallv:
        return say<typename Base::alltoall_algorithm>(what, bytes);
      case operation::gather:
      case operation::gatherv:
        return say<typename Base::gather_algorithm>(what, bytes);
      case operation::scatter:
      case operation::scatterv:
        return say<typename Base::scatter_algorithm>(what, bytes);
      case operation::reduce_scatter:
        return say<typename Base::reduce_scatter_algorithm>(what, bytes);
      case operation::scan:
      case operation::exscan:
        return say<typename Base::scan_algorithm>(what, bytes);
      default:
        return std::string{name(what)} + " is served by no algorithm";
    }
  }

 private:
  template <class Algorithm>
  std::string say(operation what, std::size_t bytes) {
    std::string text = std::string{name(what)} + " of " + std::to_string(bytes) + " bytes on " +
                       std::to_string(this->size()) + " ranks over " + Base::transport_type::name + ": ";
    if constexpr (requires { Algorithm::explain(this->net(), bytes); })
      return text + Algorithm::explain(this->net(), bytes);
    else
      return text + type_name<Algorithm>() + ": this communicator is composed of it";
  }
};

}  // namespace chorale::calls
