// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include <algorithm>
#include <utility>

#include <chorale/core/error.hpp>

namespace chorale::simulation {
namespace {

/// A helper of a rank: another fiber that shares the rank's memory.
class fiber_helper final : public helper {
 public:
  fiber_helper(scheduler& time, std::function<void()> work)
      : time_(&time),
        fiber_(&time.spawn("a helper of rank " + std::to_string(time.current_rank()), time.current_rank(),
                           std::move(work))) {}
  void join() override { time_->join(*fiber_); }

 private:
  scheduler* time_;
  fiber* fiber_;
};

/// Replaces the system services of this thread during its lifetime.
class replaced_services {
 public:
  explicit replaced_services(system_services& by) noexcept : before_(system_services::replace(&by)) {}
  ~replaced_services() { system_services::replace(before_); }
  replaced_services(const replaced_services&) = delete;
  replaced_services& operator=(const replaced_services&) = delete;

 private:
  system_services* before_;
};

}  // namespace

world::world(scheduler& time, populated_hosts where, std::uint64_t seed)
    : time_(&time),
      where_(std::move(where)),
      processes_(static_cast<std::size_t>(where_.ranks.ranks())),
      meeting_(time, where_.ranks.ranks(), where_.machine) {
  random_bits seeds{seed};
  for (int rank = 0; rank < where_.ranks.ranks(); ++rank) random_.push_back(seeds.split());
}

void world::run(const std::function<void(group&)>& body) {
  for (int rank = 0; rank < where_.ranks.ranks(); ++rank) {
    time_->spawn("rank " + std::to_string(rank), rank, [this, rank, &body] {
      const struct leaving {
        world* from;
        int who;
        ~leaving() { from->end(who); }
      } at_end{this, rank};
      group mine{meeting_, rank, where_.ranks.number_of(rank)};
      body(mine);
    });
  }
  const replaced_services replaced{*this};
  time_->run();
}

void world::kill(int rank) {
  time_->kill(rank);
  end(rank);
}

void world::stop(int rank, instant until) {
  time_->stop(rank, until);
  instant& stopped = processes_[static_cast<std::size_t>(rank)].stopped_until;
  stopped = std::max(stopped, until);
}

void world::end(int rank) {
  processes_[static_cast<std::size_t>(rank)].over = true;
  meeting_.leave(rank);
}

std::int64_t world::process() const noexcept {
  return where_.hidden_processes ? 0 : time_->current_rank() + 1;
}

simulated_process world::state_of(std::int64_t process) const noexcept {
  if (process < 1 || process > where_.ranks.ranks()) return simulated_process::gone;
  const process_life& life = processes_[static_cast<std::size_t>(process - 1)];
  if (life.over) return simulated_process::gone;
  return time_->now() < life.stopped_until ? simulated_process::stopped : simulated_process::running;
}

std::uint64_t world::random_word() {
  return random_[static_cast<std::size_t>(std::max(time_->current_rank(), 0))]();
}

std::unique_ptr<helper> world::start_helper(std::function<void()> work) {
  return std::make_unique<fiber_helper>(*time_, std::move(work));
}

const void* world::flow() const noexcept {
  const fiber* const runs = time_->current();
  return runs == nullptr ? static_cast<const void*>(this) : runs;
}

simulated_host world::host() const {
  const int host = where_.ranks.host_of(std::max(time_->current_rank(), 0));
  return {"host" + std::to_string(host), where_.cores};
}

int group::size() const noexcept {
  return all_->size();
}

std::string group::job() const {
  return "simulation-" + all_->machine();
}

std::string group::describe() const {
  return std::to_string(size()) + " ranks in virtual time on " + all_->machine();
}

bootstrap::cards group::exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
  return all_->exchange(rank_, mine, deadline);
}

static_assert(bootstrap::group<group>);

}  // namespace chorale::simulation
