// SPDX-License-Identifier: Apache-2.0
// chorale::bench as a user's program uses it: every operation, a transport, and an incorrect algorithm.
#include <cstddef>
#include <exception>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <chorale/bench.hpp>
#include <chorale/chorale.hpp>

using namespace chorale;

namespace mine {

/// Correct except for one bit of the last element on the last rank.
struct off_by_a_bit : allreduce::recursive_doubling {
  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, reduction op) {
    co_await allreduce::recursive_doubling::run(net, now, data, op);
    if (net.rank() == net.size() - 1 && !data.empty()) data[data.size() - 2] ^= std::byte{1};
  }
};
/// A different algorithm with the name of one of the library.
struct ring : allreduce::ring {};

}  // namespace mine

struct ring3 : allreduce::ring {};
struct ring : allreduce::ring {};

namespace {

int failures = 0;

void expect(bool right, const std::string& what) {
  if (right) return;
  ++failures;
  fmt::print(stderr, "not so: {}\n", what);
}

bench::limits brief() {
  bench::limits l;
  l.sizes = {4, 4100};
  l.samples = 3;
  l.warmup = 5;
  l.budget = 0.001;
  return l;
}

template <operation What, class... Policies>
std::vector<bench::row> rows() {
  return bench::measure_algorithms<What, Policies...>(brief(), true, [](const auto&) {});
}

template <operation What, class Algorithm>
void right() {
  const auto found = rows<What, Algorithm>();
  expect(found.size() == (What == operation::barrier ? 1 : 2),
         fmt::format("a row for each size of {}", name(What)));
  for (const auto& r : found)
    expect(r.wrong == 0 && r.median > 0, fmt::format("{} of {} bytes is right", name(What), r.bytes));
}

/// The exit status of a whole program with these options.
template <class... Policies>
int status(std::vector<std::string> options) {
  options.insert(options.begin(), "measuring");
  std::vector<char*> words;
  for (auto& option : options) words.push_back(option.data());
  return bench::compare<operation::allreduce, Policies...>(static_cast<int>(words.size()), words.data());
}

void run() {
  right<operation::barrier, barrier::standard>();
  right<operation::broadcast, broadcast::standard>();
  right<operation::reduce, reduce::standard>();
  right<operation::allgather, allgather::standard>();
  right<operation::alltoall, alltoall::standard>();
  right<operation::gather, gather::standard>();
  right<operation::scatter, scatter::standard>();
  right<operation::reduce_scatter, reduce_scatter::direct>();
  right<operation::scan, scan::standard>();
  right<operation::exchange, exchange::direct>();

  const auto found =
      rows<operation::allreduce, mine::off_by_a_bit, transport::ud, mine::ring, allreduce::ring>();
  std::vector<std::string> names;
  for (const auto& r : found) {
    names.push_back(r.algorithm);
    expect(r.transport == "ud", "the transport is the one that is named");
    expect(r.wrong == (r.algorithm == "mine::off_by_a_bit" ? 1 : 0),
           r.algorithm + " is right, or wrong on one rank");
  }
  const std::vector<std::string> once{"mine::off_by_a_bit", "mine::ring", "ring"};
  expect(std::vector(names.begin(), names.begin() + 3) == once, "the names tell the algorithms apart");

  const auto at_large = rows<operation::allreduce, ::ring3, ::ring, allreduce::ring>();
  expect(at_large[0].algorithm == "ring3", "one without a namespace has its own name");
  expect(at_large[1].algorithm == "::ring" && at_large[2].algorithm == "ring", "unless another has it");

  const std::vector<std::string> brief_options{"--sizes", "8,1KiB", "--samples=3", "--budget", "0.001"};
  expect(status<mine::ring, allreduce::ring>(brief_options) == 0, "status 0 if all is right");
  expect(status<mine::off_by_a_bit, mine::ring>(brief_options) == 1, "status 1 if something is wrong");
  for (const char* mistake : {"--size", "--sizes=8x", "--sizes=", "--sizes=3", "--sizes=8,1001", "--sizes=1,",
                              "--sizes=99999999G", "--budget=nan", "--samples=0", "--samples", "8"})
    expect(status<mine::ring>({mistake}) == 2, fmt::format("status 2 for {}", mistake));
  expect(status<mine::ring>({"--help"}) == 0, "status 0 for --help");
}

}  // namespace

int main() try {
  run();
  return failures == 0 ? 0 : 1;
} catch (const std::exception& e) {
  fmt::print(stderr, "measuring: {}\n", e.what());
  return 1;
}
