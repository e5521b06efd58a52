// SPDX-License-Identifier: Apache-2.0
// A user's algorithm whose `run` does not take the arguments of its operation by value is rejected where it
// is named.
// expect: does not take its arguments by value
// expect: does not return chorale::task<>
// expect: is not there or does not take what its operation gives
// expect: two transports are given
#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/algorithm/automatic.hpp>
#include <chorale/communicator.hpp>
#include <chorale/transport/ud.hpp>

struct policy_of_allgather {
  static constexpr auto implements = chorale::operation::allgather;
  static constexpr bool uneven = true;
  template <class T>
  static constexpr bool runs_on = chorale::mailbox_transport<T>;
};
struct policy_of_barrier {
  static constexpr auto implements = chorale::operation::barrier;
  template <class T>
  static constexpr bool runs_on = chorale::mailbox_transport<T>;
};

#ifdef SHOULD_FAIL
using all_type = const chorale::blocks<std::byte>&;
using result = void;
using second = chorale::transport::ud;
#define RETURN return
#else
using all_type = chorale::blocks<std::byte>;
using result = chorale::task<>;
using second = policy_of_barrier;
#define RETURN co_return
#endif

struct by_reference : policy_of_allgather {
  template <chorale::mailbox_transport Net>
  static chorale::task<> run(Net&, chorale::call_id, all_type) {
    co_return;
  }
};
struct no_task : policy_of_barrier {
  template <chorale::mailbox_transport Net>
  static result run(Net&, chorale::call_id) {
    RETURN;
  }
};
struct other_arguments : policy_of_barrier {
  template <chorale::mailbox_transport Net>
#ifdef SHOULD_FAIL
  static chorale::task<> run(Net&, chorale::call_id, int){
#else
  static chorale::task<> run(Net&, chorale::call_id) {
#endif
      co_return;
}
}
;

static_assert(sizeof(chorale::communicator<by_reference>) > 0);
static_assert(sizeof(chorale::communicator<no_task>) > 0);
static_assert(sizeof(chorale::communicator<other_arguments>) > 0);
static_assert(sizeof(chorale::communicator<chorale::automatic<chorale::allgather::ring, by_reference>>) > 0);
#ifdef SHOULD_FAIL
static_assert(sizeof(chorale::communicator<chorale::transport::rc, second>) > 0);
#endif
