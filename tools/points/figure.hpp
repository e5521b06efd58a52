// SPDX-License-Identifier: Apache-2.0
// The contestants for those figures of the papers that do not show collectives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/bench/measure.hpp>
#include <chorale/communicator.hpp>
#include <chorale/transport/rc.hpp>

namespace points {

using chorale::bench::team;
/// A contestant, named as in the figure. `count`: number of queue pairs, or of other objects that the figure
/// compares.
struct entered {
  std::string name;
  std::unique_ptr<chorale::bench::contestant> who;
  int count = 0;
};
using contestants = std::vector<entered>;
using communicator = chorale::communicator<chorale::transport::rc>;

/// The job, with a communicator that is not measured.
struct job {
  communicator& control;
  team& all;
  std::size_t largest;  ///< bytes of the longest message
};

/// A contestant whose time is that of rank 0: the others serve it, or compute.
class timed_by_one : public chorale::bench::contestant {
 public:
  timed_by_one(const job& in, std::string what, std::string how, std::string over)
      : contestant(std::move(what), std::move(how), std::move(over)), job_(in) {}

  void meet() override { job_.control.barrier(); }
  double run(std::size_t bytes, int calls) final {
    const double mine = go(bytes, calls);
    return job_.all.max(job_.control.rank() == 0 ? mine : 0);
  }

 protected:
  /// @returns the seconds of this rank for that many calls.
  virtual double go(std::size_t bytes, int calls) = 0;
  [[nodiscard]] const job& in() const noexcept { return job_; }
  [[nodiscard]] int rank() const noexcept { return job_.control.rank(); }

 private:
  const job& job_;
};

/// Byte i of message number `message`; successive messages differ.
inline std::byte payload(std::uint64_t message, std::size_t i) {
  return static_cast<std::byte>((i * 131 + i / 251 + message * 29 + 7) & 0xff);
}
inline void fill(std::span<std::byte> into, std::uint64_t message) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = payload(message, i);
}
/// @returns the error in message number `message`; empty if there is none.
inline std::string compare(std::span<const std::byte> seen, std::uint64_t message) {
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i] != payload(message, i))
      return fmt::format("byte {} of {} of message {} is {}, not {}", i, seen.size(), message,
                         std::to_integer<int>(seen[i]), std::to_integer<int>(payload(message, i)));
  return {};
}

/// P1 section 2.1.3: a datagram to several ranks, by multicast and one by one; numbers of receivers beyond
/// the group's are omitted.
contestants multicast(const job& in, const std::vector<int>& receivers);
/// P4 figure 4(b): the cost of registering memory, compared with a copy of as many bytes.
contestants registration(const job& in);
/// P4 figure 5(c): rows of a matrix are gathered and multiplied, in memory that no earlier call has used.
contestants matrix(const job& in);
/// P5 figure 6(b): a ping-pong over several queue pairs in turn, and over one queue pair of datagrams.
contestants queue_pairs(const job& in, const std::vector<int>& counts);
/// P5 figure 6(a): the adapter resources of a rank. Prints a table of the resources after alltoalls on each
/// transport: measured and by the formula, and by the formula alone for up to 100,000 ranks. The ranks are
/// the processes of the job or, without a launcher, threads, in groups of these sizes.
/// @param json the file to which all memory of a rank is also written, unless it is empty
/// @throws chorale::error, std::runtime_error if a call fails or has a wrong result
void show_resources(std::vector<int> sizes, const std::string& json);
/// P5 figure 6(c): all other ranks send to rank 0, with copies and without.
contestants fan_in(const job& in);
/// P5 figure 7(a): alltoall straight into the receivers' memory, and by send/receive with copies.
contestants alltoall(const job& in);
/// P5 figure 8: messages from rank 0 to rank 1: a ping-pong, or `in_flight` messages at a time in one
/// direction.
contestants point_to_point(const job& in, int in_flight);
/// P5 figure 10: reading memory of rank 1, which computes: by the device, and emulated, where an event wakes
/// a thread of rank 1 to answer; `in_flight` reads at a time. With `polling`: only emulated, by a thread that
/// polls. That thread occupies a core as long as the contestants exist, so they exclude the others.
contestants reads(const job& in, bool polling, int in_flight);
/// P5 figure 11: writing to memory of rank 1, which waits for the data: a ping-pong, or many writes at a
/// time.
contestants writes(const job& in, int in_flight);

}  // namespace points
