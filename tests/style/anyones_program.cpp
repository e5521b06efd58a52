// SPDX-License-Identifier: Apache-2.0
// Compiled by anyones_program.py after macros that other headers define: every call with elements, operators,
// algorithms and ranges from a namespace whose functions have the names of the library's. Never run.
#include <chorale/bench.hpp>
#include <chorale/chorale.hpp>
#include <chorale/plan.hpp>
#include <chorale/sparse_alltoall.hpp>
#include <chorale/statistics.hpp>
#include <chorale/window.hpp>

namespace elsewhere {

template <class... Any>
void from(Any&&...) = delete;
template <class... Any>
void copy(Any&&...) = delete;
template <class... Any>
void start(Any&&...) = delete;
template <class... Any>
void lasting(Any&&...) = delete;

struct point {
  double x;
  bool operator<(const point& other) const { return x < other.x; }
  struct address {};
  address operator&() const { return {}; }
};
struct plus {
  point operator()(const point& left, const point& right) const { return {left.x + right.x}; }
};
/// The program's own algorithm, whose namespace is associated with every type that it is a template argument
/// of.
struct to_all {
  static constexpr auto implements = chorale::operation::allreduce;
  template <class Net>
  static constexpr bool runs_on = chorale::mailbox_transport<Net>;
  template <chorale::mailbox_transport Net>
  static chorale::task<> run(Net& net, chorale::call_id now, std::span<std::byte> data,
                             chorale::reduction op) {
    return chorale::allreduce::rank_by_rank::run(net, now, data, op);
  }
};
/// A group of ranks from the program's own launcher.
struct group {
  [[nodiscard]] int rank() const { return 0; }
  [[nodiscard]] int size() const { return 1; }
  [[nodiscard]] std::string job() const { return {}; }
  [[nodiscard]] std::string describe() const { return {}; }
  chorale::bootstrap::cards exchange(std::span<const std::byte>, std::chrono::milliseconds) { return {}; }
};

template <class Transport>
void all_calls() {
  group ranks;
  using communicator = chorale::communicator<Transport, to_all>;
  communicator comm{ranks};
  std::vector<point> in(1), out(1);
  std::vector<std::size_t> counts(1);
  point one{};

  comm.barrier();
  comm.broadcast(in);
  comm.reduce(in, out, plus{});
  comm.allreduce(in, out, plus{});
  comm.reduce_scatter(in, out, plus{});
  comm.scan(in, out, plus{});
  comm.exscan(in, out, chorale::initial{one}, plus{});
  comm.gather(in, out);
  comm.allgather(in, out);
  comm.scatter(in, out);
  comm.alltoall(in, out);
  one = *comm.reduce(one, plus{});
  one = comm.allreduce(one, plus{});
  one = comm.scan(one, chorale::max);
  one = comm.exscan(one, chorale::initial{one}, plus{});
  static_cast<void>(comm.gather(one));
  static_cast<void>(comm.allgather(one));
  static_cast<void>(comm.allgather(in));
  comm.exchange({chorale::to(0, one)}, {chorale::from(0, one)});
  comm.exchange({chorale::to(0, in)}, {chorale::from(0, out)});
  static_cast<void>(comm.allreduce(chorale::placed{1.0, 2}, chorale::min_at));

  chorale::request pending = comm.iallreduce(in, out, plus{});
  pending.wait();
  comm.ibroadcast(in).wait();
  comm.igather(in, out).wait();
  comm.ialltoall(in, out).wait();
  comm.iexchange({chorale::to(0, in)}, {chorale::from(0, out)}).wait();
  chorale::plan again = comm.plan_allreduce(in, out, plus{});
  again.run();
  comm.plan_broadcast(in).run();

  chorale::window<point, communicator> part{comm, 1};
  part.put(0, 0, in);
  part.put(0, 0, one);
  part.get(0, 0, in);
  one = part.get(0, 0);
  part.accumulate(0, 0, in, plus{});
  part.accumulate(0, 0, one, plus{});
  part.get_accumulate(0, 0, in, out, plus{});
  one = part.fetch_and_op(0, 0, one, plus{});
  part.get(0, 0, one);
  part.fence();
  chorale::window exposed{comm, in};

  chorale::sparse_alltoall sparse{comm};
  static_cast<void>(sparse.template run<point>({chorale::to(0, in)}));
  chorale::registered_array<point> pages = comm.template allocate<point>(1);
  comm.broadcast(pages);
  static_cast<void>(comm.split(0, chorale::key{0}));
  static_cast<void>(comm.duplicate());
  static_cast<void>(comm.statistics());
}

void instances() {
  all_calls<chorale::transport::rc>();
  all_calls<chorale::transport::ud_rdma>();
}

}  // namespace elsewhere
