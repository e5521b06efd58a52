// SPDX-License-Identifier: Apache-2.0
// P4 figure 4(b): the cost of registering memory, compared with the alternative, a copy.
#include <cstring>
#include <optional>

#include <chorale/bench/aligned_floats.hpp>
#include <chorale/verbs/memory_region.hpp>

#include "wires.hpp"

namespace points {
namespace {

namespace verbs = chorale::verbs;
namespace bench = chorale::bench;

enum class part { registering, giving_up, copying };

class registering final : public timed_by_one {
 public:
  registering(const job& in, part what, const char* name)
      : timed_by_one(in, "registration", name, "verbs"),
        what_(what),
        memory_(floats(in)),
        source_(floats(in)) {}

  /// The device writes to registered memory; copied memory is compared.
  std::string check(std::size_t bytes, team&) override {
    const auto source = std::as_writable_bytes(source_.span()).first(bytes);
    const auto target = std::as_writable_bytes(memory_.span()).first(bytes);
    fill(source, bytes);
    std::memset(target.data(), 0, bytes);
    if (what_ == part::copying)
      copy(bytes);
    else
      write_by_device(bytes);
    return compare(target, bytes);
  }

 private:
  static constexpr int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  static bench::aligned_floats floats(const job& in) { return bench::aligned_floats{in.largest / 4 + 1}; }
  [[nodiscard]] const verbs::protection_domain& domain() const { return in().control.transport().domain(); }

  double go(std::size_t bytes, int calls) override {
    double sum = 0;
    for (int i = 0; i < calls; ++i) {
      const auto begin = bench::timer::now();
      if (what_ == part::copying) {
        copy(bytes);
        sum += bench::seconds_since(begin) - bench::clock_cost();
        continue;
      }
      verbs::memory_region region{domain(), memory_.data(), bytes, access};
      const auto middle = bench::timer::now();
      region.close();
      sum += what_ == part::giving_up ? bench::seconds_since(middle)
                                      : std::chrono::duration<double>(middle - begin).count();
      sum -= bench::clock_cost();
    }
    return sum;
  }
  void copy(std::size_t bytes) {
    std::memcpy(memory_.data(), source_.data(), bytes);
    asm volatile("" : : "r"(memory_.data()) : "memory");
  }
  /// From this rank to itself, over two queue pairs.
  void write_by_device(std::size_t bytes) {
    verbs::memory_region from{domain(), source_.data(), bytes, access};
    verbs::memory_region to{domain(), memory_.data(), bytes, access};
    verbs::completion_queue done{in().control.transport().device(), 4};
    verbs::queue_pair_options wanted;
    wanted.send = wanted.recv = &done;
    verbs::queue_pair here{domain(), wanted};
    verbs::queue_pair there{domain(), wanted};
    const auto me = port_of(in().control).address;
    connect(here, in().control, there.number(), me);
    connect(there, in().control, here.number(), me);
    ibv_sge source{reinterpret_cast<std::uintptr_t>(source_.data()), static_cast<std::uint32_t>(bytes),
                   from.lkey()};
    ibv_send_wr request{};
    request.sg_list = &source;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(memory_.data());
    request.wr.rdma.rkey = to.rkey();
    here.post_send(request);
    ibv_wc wc{};
    while (done.poll({&wc, 1}).empty()) {
    }
    // A failed write leaves the memory unchanged, which the comparison detects.
  }

  part what_;
  bench::aligned_floats memory_;
  bench::aligned_floats source_;
};

}  // namespace

contestants registration(const job& in) {
  contestants all;
  all.push_back({"register", std::make_unique<registering>(in, part::registering, "register")});
  all.push_back({"deregister", std::make_unique<registering>(in, part::giving_up, "deregister")});
  all.push_back({"copy", std::make_unique<registering>(in, part::copying, "copy")});
  return all;
}

}  // namespace points
