// SPDX-License-Identifier: Apache-2.0
// The adapter resources of a rank on each transport, measured and by formula.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include <chorale/algorithm/alltoall/direct.hpp>
#include <chorale/bootstrap/in_process.hpp>
#include <chorale/bootstrap/launched.hpp>
#include <chorale/communicator.hpp>
#include <chorale/model/resources.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

#include "../../lib/core/printable.hpp"
#include "../bench/output.hpp"
#include "figure.hpp"

namespace points {
namespace {

using chorale::model::resources;

constexpr int busiest = 8;
constexpr int alltoalls = 40;

/// Resources of rank 0 after alltoalls, in which all ranks communicate with each other.
struct taken {
  int connections = 0;
  std::size_t registered = 0;
  std::size_t total = 0;  ///< with unregistered memory: packets of streams, queues in adapters' layout
};

template <class Transport, class Group>
taken take_on(Group& group, const chorale::config& settings) {
  chorale::communicator<Transport, chorale::alltoall::direct> comm{group, settings};
  std::vector<std::uint32_t> out(static_cast<std::size_t>(comm.size()),
                                 static_cast<std::uint32_t>(comm.rank()));
  std::vector<std::uint32_t> in(out.size());
  for (int i = 0; i < alltoalls; ++i) {
    comm.alltoall(std::span<const std::uint32_t>{out}, std::span{in});
    for (std::size_t r = 0; r < in.size(); ++r)
      if (in[r] != r) throw std::runtime_error(fmt::format("alltoall on rank {}: wrong result", comm.rank()));
  }
  const auto m = comm.transport().memory();
  const taken result{m.peak_connections, comm.transport().registered_bytes(), m.total_bytes()};
  comm.barrier();
  return result;
}

template <class Transport>
taken take_on(int ranks, const chorale::config& settings) {
  taken result;
  std::mutex mutex;
  std::string failure;
  chorale::bootstrap::run_in_process(ranks, [&](auto& group) {
    try {
      const auto m = take_on<Transport>(group, settings);
      const std::lock_guard hold{mutex};
      if (group.rank() == 0) result = m;
    } catch (const std::exception& e) {
      const std::lock_guard hold{mutex};
      failure = e.what();
    }
  });
  if (!failure.empty()) throw std::runtime_error(failure);
  return result;
}

/// A row in the format of tools/papers (P5 figure 6(a)).
nlohmann::ordered_json told_of(const std::string& transport, int ranks, const taken& measured) {
  return {{"contestant", transport},
          {"at", {{"connections", ranks - 1}}},
          {"value", static_cast<double>(measured.total) / 1024},
          {"unit", "KiB"},
          {"wrong", 0}};
}

void print_resources(const char* transport, std::int64_t ranks, const resources& formula,
                     const taken* measured) {
  const auto kib = [](auto bytes) { return fmt::format("{:.0f}", static_cast<double>(bytes) / 1024); };
  chorale::say(stdout, "| {} | {} | {} | {} | {} | {} | {} | {} |\n", transport, ranks,
               measured != nullptr ? fmt::format("{}", 1 + measured->connections) : "", formula.queue_pairs,
               formula.receive_buffers, measured != nullptr ? kib(measured->registered) : "",
               kib(formula.registered_bytes), formula.descriptors);
}

}  // namespace

void show_resources(std::vector<int> sizes, const std::string& json) {
  auto settings = chorale::config::from_environment();
  if (settings.device.empty()) settings.device = "soft0";
  // As many as on an adapter.
  settings.blocks = settings.least_blocks();
  constexpr int mtu = 4096;
  // Under a launcher the processes of the job are the ranks, and their number is the only group size.
  chorale::bootstrap::launched launch;
  const bool launched = launch.size() > 1;
  if (launched) sizes = {launch.size()};
  const bool prints = !launched || launch.rank() == 0;
  const auto group_of = [&]<class Transport>(std::type_identity<Transport>, int n) {
    return launched ? take_on<Transport>(launch, settings) : take_on<Transport>(n, settings);
  };
  const auto print_row = [&](const std::string& transport, std::int64_t n, const resources& formula,
                             const taken* measured) {
    if (prints) print_resources(transport.c_str(), n, formula, measured);
  };
  const std::string hybrid_name = fmt::format("hybrid<{}>", busiest);
  if (prints) chorale::say(stdout, "hybrid<{}>: connections to the busiest.\n\n", busiest);
  if (prints)
    chorale::say(
        stdout,
        "| transport | ranks | QPs measured | by formula | receives posted | registered KiB measured | by "
        "formula | descriptors by formula |\n"
        "|---|---|---|---|---|---|---|---|\n");
  namespace model = chorale::model;
  namespace transport = chorale::transport;
  auto told = nlohmann::ordered_json::array();
  for (const int n : sizes) {
    const auto rc = group_of(std::type_identity<transport::rc>{}, n);
    print_row("rc", n, model::resources_of_rc(n, n - 1, settings), &rc);
    const auto ud = group_of(std::type_identity<transport::ud>{}, n);
    print_row("ud", n, model::resources_of_ud(n, mtu), &ud);
    const auto hybrid = group_of(std::type_identity<transport::hybrid<busiest>>{}, n);
    print_row(hybrid_name, n, model::resources_of_hybrid(n, n - 1, busiest, settings, mtu), &hybrid);
    std::fflush(stdout);
    told.push_back(told_of("RC", n, rc));
    told.push_back(told_of("UD", n, ud));
    told.push_back(told_of(hybrid_name, n, hybrid));
  }
  if (!json.empty() && prints) ::bench::write_file(json, {{"rows", told}});
  if (launched) return;
  for (const std::int64_t n : {1000, 10'000, 100'000}) {
    print_row("rc", n, model::resources_of_rc(n, n - 1, settings), nullptr);
    print_row("ud", n, model::resources_of_ud(n, mtu), nullptr);
    print_row(hybrid_name, n, model::resources_of_hybrid(n, n - 1, busiest, settings, mtu), nullptr);
  }
}

}  // namespace points
