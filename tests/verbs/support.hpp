// SPDX-License-Identifier: Apache-2.0
// Shared by the tests on a device: the device under test, and connected queue pairs of this process.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>
#include <chorale/verbs/address.hpp>
#include <chorale/verbs/completion_queue.hpp>
#include <chorale/verbs/device.hpp>
#include <chorale/verbs/protection_domain.hpp>
#include <chorale/verbs/queue_pair.hpp>
#include <chorale/verbs/registered_buffer.hpp>
#include <chorale/verbs/selection.hpp>

namespace test {

namespace verbs = chorale::verbs;

constexpr int all_access =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr std::uint32_t qkey = 0x1234;

/// CHORALE_TEST_DEVICE, else soft0.
std::string device_name();

/// Prints why part of a test does not run on this device.
void skip(const std::string& why);

/// The error that `act` throws. Fails the test if it throws none.
chorale::error error_of(const std::function<void()>& act);

/// The next completion of `queue`; fails the test after half a minute.
ibv_wc next_completion(verbs::completion_queue& queue);
/// True if no completion arrives for `quiet`.
bool stays_empty(verbs::completion_queue& queue, std::chrono::milliseconds quiet);

/// The opened device under test, with the objects that nearly every test needs.
struct rig {
  rig();

  verbs::device_choice choice;
  verbs::device device;
  verbs::local_port port;
  verbs::protection_domain domain;
  verbs::completion_queue queue;    ///< 256 entries
  verbs::registered_buffer buffer;  ///< 64 KiB, `all_access`

  /// Scatter/gather entry of `bytes` of `buffer` from `offset`.
  [[nodiscard]] ibv_sge piece(std::size_t offset, std::uint32_t bytes) const;
  /// Options with `queue` for both directions.
  [[nodiscard]] verbs::queue_pair_options options(ibv_qp_type type);
  /// A UD queue pair in RTS with `qkey`.
  [[nodiscard]] verbs::queue_pair datagram_pair(verbs::completion_queue* receives = nullptr,
                                                verbs::shared_receive_queue* srq = nullptr);
  /// RESET to RTS, connected to a queue pair of this process.
  void connect(verbs::queue_pair& from, const verbs::queue_pair& to, int access = all_access,
               verbs::connection details = {});
};

/// Two connected RC queue pairs of one process, with separate completion queues.
struct connected : rig {
  explicit connected(int access = all_access, verbs::shared_receive_queue* srq = nullptr);

  verbs::completion_queue left_queue, right_queue;
  verbs::queue_pair left, right;
};

/// A signalled request with one gather entry.
ibv_send_wr request(ibv_wr_opcode opcode, ibv_sge& piece);

}  // namespace test
