// SPDX-License-Identifier: Apache-2.0
// Endpoints without a transport, all driven by one thread: the test performs each step of a protocol.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include <chorale/bootstrap/in_process.hpp>
#include <chorale/transport/endpoint/endpoint.hpp>
#include <chorale/transport/endpoint/multicast_group.hpp>

namespace inprocess {

class bare final : private chorale::transport::endpoint_user {
 public:
  template <chorale::bootstrap::group G>
  bare(G& group, const chorale::config& settings)
      : core_(*this, chorale::transport::join(
                         chorale::transport::endpoint::view_of(group, settings),
                         {"bare", settings, {.payload_bytes = 1024, .receives = 256, .sends = 64}})) {}
  ~bare() { core_.leave(); }

  [[nodiscard]] chorale::transport::endpoint& core() noexcept { return core_; }

 private:
  void on_progress() override {}
  void withdraw() noexcept override {}

  chorale::transport::endpoint core_;
};

/// Ranks of a group, all driven by one thread, without service threads: a rank acts only through `[rank]`.
class team {
 public:
  explicit team(int size, const chorale::config& c = patient(), bool joins = true)
      : members_(static_cast<std::size_t>(size)) {
    chorale::bootstrap::run_in_process(size, [&](auto& group) {
      members_[static_cast<std::size_t>(group.rank())] = std::make_unique<bare>(group, c);
    });
    for (auto& m : members_) {
      if (joins) m->core().multicast().join();
    }
  }

  team(const team&) = delete;
  team& operator=(const team&) = delete;
  /// Unless its communicator has failed, a leaving rank would wait for answers that no thread sends.
  ~team() {
    for (auto& m : members_)
      m->core().failures().fail(
          std::make_exception_ptr(chorale::error(chorale::errc::poisoned, "the test is over")));
  }

  /// Settings of a team whose ranks send no requests by themselves, however long a test takes.
  static chorale::config patient() {
    chorale::config c;
    c.device = "soft0";
    c.service = chorale::service_policy::off;
    c.multicast_patience = std::chrono::seconds{10};
    return c;
  }
  /// ... and of one whose ranks send requests soon.
  static chorale::config impatient() {
    auto c = patient();
    c.multicast_patience = std::chrono::milliseconds{1};
    return c;
  }

  [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }
  chorale::transport::endpoint& operator[](int rank) {
    return members_[static_cast<std::size_t>(rank)]->core();
  }
  auto& group(int rank) { return (*this)[rank].multicast().group(); }
  auto statistics(int rank) { return (*this)[rank].multicast().statistics(); }
  auto begin() const { return members_.begin(); }
  auto end() const { return members_.end(); }

 private:
  std::vector<std::unique_ptr<bare>> members_;
};

}  // namespace inprocess
