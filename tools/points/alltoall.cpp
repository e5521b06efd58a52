// SPDX-License-Identifier: Apache-2.0
// P5 figure 7(a): direct alltoall by RDMA without copies, and by send/receive with copies.
#include <chorale/algorithm/alltoall/direct.hpp>
#include <chorale/transport/rc_send_receive.hpp>

#include "figure.hpp"

namespace points {
namespace {

/// In memory allocated by the device: writing to other memory costs a system call per message on soft0, but
/// not on an adapter.
template <class Transport>
class exchanging final : public chorale::bench::contestant {
 public:
  exchanging(const job& in, std::string how, const chorale::config& settings)
      : contestant("alltoall", std::move(how), Transport::name),
        comm_(settings),
        out_(comm_.template allocate<std::byte>(in.largest * ranks())),
        into_(comm_.template allocate<std::byte>(in.largest * ranks())) {}

  void meet() override { comm_.barrier(); }
  double run(std::size_t bytes, int calls) override {
    return chorale::bench::time_together(calls, [&] { call(bytes); });
  }
  std::string check(std::size_t bytes, team&) override {
    std::string wrong;
    for (std::uint64_t round = 0; round < 3; ++round) {
      const auto number = [&](std::size_t from, std::size_t to) { return (round * 512 + from) * 512 + to; };
      for (std::size_t to = 0; to < ranks(); ++to) fill(block(out_, to, bytes), number(me(), to));
      std::ranges::fill(into_.span(), std::byte{0});
      call(bytes);
      for (std::size_t from = 0; from < ranks() && wrong.empty(); ++from)
        wrong = compare(block(into_, from, bytes), number(from, me()));
    }
    return wrong;
  }

 private:
  [[nodiscard]] std::size_t ranks() { return static_cast<std::size_t>(comm_.size()); }
  [[nodiscard]] std::size_t me() { return static_cast<std::size_t>(comm_.rank()); }
  static std::span<std::byte> block(chorale::registered_array<std::byte>& of, std::size_t rank,
                                    std::size_t bytes) {
    return of.span().subspan(rank * bytes, bytes);
  }
  void call(std::size_t bytes) {
    comm_.alltoall(std::span<const std::byte>{out_.span().first(bytes * ranks())},
                   into_.span().first(bytes * ranks()));
  }

  chorale::communicator<Transport, chorale::alltoall::direct> comm_;
  chorale::registered_array<std::byte> out_;
  chorale::registered_array<std::byte> into_;
};

}  // namespace

contestants alltoall(const job& in) {
  using namespace chorale::transport;
  contestants all;
  auto settings = chorale::config::from_environment();
  all.push_back({"RDMA, blocks", std::make_unique<exchanging<rc>>(in, "blocks", settings)});
  settings.alltoall_zero_copy_bytes = 1;
  all.push_back({"RDMA", std::make_unique<exchanging<rc>>(in, "zero copy", settings)});
  settings.send_receive_long = chorale::long_send_policy::copy;
  all.push_back({"send/receive", std::make_unique<exchanging<rc_send_receive>>(in, "copies", settings)});
  return all;
}

}  // namespace points
