// SPDX-License-Identifier: Apache-2.0
// Two ranks of this process over the device that would be chosen.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <chorale/algorithm/broadcast/multicast.hpp>
#include <chorale/bootstrap/in_process.hpp>
#include <chorale/chorale.hpp>
#include <chorale/transport/ud.hpp>

#include "checks.hpp"

namespace info::check {
namespace {

constexpr std::size_t short_words = 16;
constexpr std::size_t long_words = 1 << 17;  // 1 MiB: long enough for zero copy

/// Exchanges messages in both directions, with and without copies, and a result that both ranks compute.
template <class Communicator>
std::string transfer(Communicator& comm) {
  for (const std::size_t words : {short_words, long_words})
    for (int root = 0; root < comm.size(); ++root) {
      std::vector<std::uint64_t> data(words);
      if (comm.rank() == root)
        std::iota(data.begin(), data.end(), words * (static_cast<std::size_t>(root) + 1));
      comm.broadcast(data, chorale::root{root});
      for (std::size_t i = 0; i < words; ++i)
        if (data[i] != words * (static_cast<std::size_t>(root) + 1) + i)
          return fmt::format("word {} of {} from rank {} is wrong", i, words, root);
    }
  const std::uint64_t sum =
      comm.allreduce(std::uint64_t{40} + static_cast<std::uint64_t>(comm.rank()), chorale::sum);
  return sum == 81 ? std::string{} : fmt::format("40 + 41 is {}", sum);
}

/// Tries the exchange, and describes the outcome.
template <class Communicator>
finding attempt(std::string subject, const std::string& device, const char* what, verdict if_not) {
  auto settings = chorale::config::from_environment();
  // So that a transfer that hangs is reported soon.
  settings.deadline = std::chrono::seconds{30};
  settings.on_stall = [](const chorale::stall_report&) {};
  std::vector<std::string> wrong_data(2);
  try {
    chorale::bootstrap::run_in_process(2, [&](chorale::bootstrap::in_process& group) {
      Communicator comm{group, settings};
      wrong_data[static_cast<std::size_t>(group.rank())] = transfer(comm);
    });
  } catch (const std::exception& e) {
    const std::string remedy =
        if_not == verdict::wrong
            ? "as it says; if it names nothing: `ibv_rc_pingpong` and `ibv_ud_pingpong` try the device "
              "without Chorale, `dmesg` has the driver's complaints"
            : "leave out the algorithms by multicast, or see docs/multicast.md";
    return {if_not, std::move(subject), fmt::format("over {}: {}", device, e.what()), remedy};
  }
  for (const auto& one : wrong_data)
    if (!one.empty())
      return wrong(std::move(subject), fmt::format("over {}: the data that came is wrong: {}", device, one),
                   "do not use this device; tell its vendor, or the authors of Chorale");
  return ok(std::move(subject), fmt::format("{} over {}: the data that came is right", what, device));
}

}  // namespace

findings of_loopback(const report& r) {
  using namespace chorale;
  if (!r.choice)
    return {wrong("loopback", "nothing can be tried without a device", "fix what is wrong with the device")};
  const std::string device = r.choice->device.name;
  return {attempt<communicator<transport::rc>>("connections", device,
                                               "RDMA writes and reads by RC queue pairs", verdict::wrong),
          attempt<communicator<transport::ud>>("datagrams", device, "datagrams by UD queue pairs",
                                               verdict::wrong),
          attempt<communicator<transport::ud, broadcast::multicast>>(
              "multicast", device, "a group, joined and sent to,", verdict::note)};
}

}  // namespace info::check
