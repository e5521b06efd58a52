// What the papers' figures that no collective makes are measured with: each a list of contestants.
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
/// A contestant by its name in the figure. `count`: of queue pairs, or of what else the figure compares.
struct entered {
  std::string name;
  std::unique_ptr<chorale::bench::contestant> who;
  int count = 0;
};
using contestants = std::vector<entered>;
using communicator = chorale::communicator<chorale::transport::rc>;

/// The job, by a communicator that nobody measures.
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

/// Byte i of message number `message`: no message is like the one before it.
inline std::byte payload(std::uint64_t message, std::size_t i) {
  return static_cast<std::byte>((i * 131 + i / 251 + message * 29 + 7) & 0xff);
}
inline void fill(std::span<std::byte> into, std::uint64_t message) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = payload(message, i);
}
/// @returns what is wrong with message number `message`, empty if nothing.
inline std::string compare(std::span<const std::byte> seen, std::uint64_t message) {
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i] != payload(message, i))
      return fmt::format("byte {} of {} of message {} is {}, not {}", i, seen.size(), message,
                         std::to_integer<int>(seen[i]), std::to_integer<int>(payload(message, i)));
  return {};
}

/// P1 section 2.1.3: a datagram to so many ranks, by multicast and one by one; to as many as there are.
contestants multicast(const job& in, const std::vector<int>& receivers);
/// P4 figure 4(b): what registering memory costs, beside a copy of as many bytes.
contestants registration(const job& in);
/// P4 figure 5(c): rows of a matrix gathered, and a product, with memory that no call has seen before.
contestants matrix(const job& in);
/// P5 figure 6(b): a message to and fro over so many queue pairs in turn, and over one of datagrams.
contestants queue_pairs(const job& in, const std::vector<int>& counts);
/// P5 figure 6(c): all other ranks send to rank 0, with copies and without.
contestants fan_in(const job& in);
/// P5 figure 7(a): alltoall straight into the receivers' memory, and by send/receive with copies.
contestants alltoall(const job& in);
/// P5 figure 8: messages from rank 0 to rank 1: one to and fro, or so many in one direction at a time.
contestants point_to_point(const job& in, int in_flight);
/// P5 figure 10: reading memory of rank 1, which computes: by the device, and emulated, where a thread of
/// rank 1 answers that an event wakes; so many reads at a time. With `polling` instead: only emulated, by a
/// thread that polls. It takes a core for as long as the contestants are there, so the others are not beside
/// it.
contestants reads(const job& in, bool polling, int in_flight);
/// P5 figure 11: writing to memory of rank 1, which waits for it: one to and fro, or many at a time.
contestants writes(const job& in, int in_flight);

}  // namespace points
