// SPDX-License-Identifier: Apache-2.0
// A simulated rank: its streams, its failure detector, its service thread, and a program that it runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include <chorale/core/attention.hpp>
#include <chorale/transport/liveness/failure_detector.hpp>
#include <chorale/transport/liveness/watched_wait.hpp>

#include "transport/liveness/questions.hpp"
#include "transport/reliable/stream_table.hpp"
#include "virtual_port.hpp"

namespace protocols {

using namespace chorale::transport;
using reliable::stream_table;

/// A step of a rank's program. `call` is the call that all ranks are in at this step.
struct step {
  enum class kind : std::uint8_t {
    send,       ///< a message with the next content to `peer`
    receive,    ///< the next message of `peer`; given back later
    give_back,  ///< all messages of `peer`
    signal,
    signalled,
    put,  ///< `amount` bytes to `peer`, at the place of this rank and call, with a notification
    notified,
    flush,
    get,      ///< `amount` bytes of the readable memory of `peer`
    add,      ///< 1 to the counter of `peer`
    compute,  ///< for `amount` microseconds: only the service thread answers
    stop,     ///< for `amount` microseconds: neither thread answers
  };
  kind what;
  int peer;
  std::uint32_t call;
  std::uint32_t amount = 0;
};

struct simulated_job;

/// One rank. Its waits are like an endpoint's: attempt, read, back off; on the slow path the failure detector
/// judges, and questions go to the awaited and the suspected ranks.
class stream_node final : reliable::packet_port {
 public:
  static constexpr std::size_t readable_bytes = 1500;

  stream_node(simulated_job& all, int rank);
  void run(std::vector<step> program, clock::duration late);
  void inject(const datagram& d) { port_.arrive(d, true); }

  [[nodiscard]] bool is_done() const noexcept { return stage_ == stage::gone; }
  [[nodiscard]] bool is_stopped() const noexcept { return stopped_; }
  [[nodiscard]] virtual_port& port() noexcept { return port_; }
  [[nodiscard]] std::uint64_t counter() const noexcept { return memory_->counter; }
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] reliable::stream_statistics statistics() const {
    return table_ ? table_->statistics() : reliable::stream_statistics{};
  }

 private:
  enum class stage : std::uint8_t { late, running, closing, leaving, gone };
  /// The slow path of a wait.
  struct slow_wait {
    bool begun = false;
    unsigned looks = 0;
    clock::time_point since{};
    chorale::transport::watched_wait wait{-1, {}};
  };

  bool send(int peer, reliable::stream_kind kind, std::span<const std::byte> body, bool solicited) override;
  void refuse() noexcept override;
  bool send_datagram(int to, std::uint16_t kind, std::span<const std::byte> body, bool solicited);

  // The rank's own thread.
  void turn();
  void later(clock::duration pause);
  void start();
  bool attempt(const step& s);
  void look(int awaited);
  void ask(int peer);
  void watch(int awaited, bool asks_others);
  void judge(int awaited);
  void close();
  void say_goodbye();
  bool read();  ///< false if nothing had arrived
  void take(const datagram& d);
  [[nodiscard]] clock::duration pause();

  // The service thread.
  void serve();
  void arm();

  // Checks.
  void check_message(int from, std::span<const std::byte> message);
  void check_put(const step& s);
  void check_bounds();

  /// The memory that peers access.
  struct exposed {
    std::array<std::byte, readable_bytes> readable;
    alignas(8) std::uint64_t counter = 0;
    std::vector<std::byte> puts;  ///< a place for each call and sender
  };

  simulated_job* job_;
  int rank_;
  virtual_port port_;
  failure_detector detector_;
  std::unique_ptr<exposed> memory_;
  std::unique_ptr<stream_table> table_;
  std::map<std::pair<int, std::uint16_t>, datagram> kept_;  ///< kept by the service thread for the rank's own
  std::vector<step> program_;
  std::size_t at_ = 0;
  stage stage_ = stage::late;
  bool stopped_ = false;
  bool serves_ = false;
  slow_wait slow_wait_;
  unsigned turns_ = 0;  ///< determines which rank is asked next
  farewell_rounds rounds_;

  // For the current step.
  bool begun_ = false;
  std::optional<reliable::write_request> write_;
  std::vector<std::byte> buffer_;
  std::uint32_t ticket_ = 0;
  std::uint64_t old_ = 0;

  std::vector<std::uint32_t> sent_;      ///< messages sent to each rank
  std::vector<std::uint32_t> received_;  ///< messages received from each rank
  std::vector<std::uint32_t> held_;      ///< of these, those not given back
  std::set<std::uint64_t> olds_;
};

[[noreturn]] inline void violated(const std::string& what) {
  throw std::runtime_error(what);
}

}  // namespace protocols
