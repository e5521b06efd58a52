// SPDX-License-Identifier: Apache-2.0
// A fiber as the scheduler knows it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <chorale/core/background.hpp>
#include <chorale/simulation/time.hpp>

#include "context.hpp"
#include "core_turns.hpp"
#include "event_queue.hpp"
#include "fiber_record.hpp"
#include "scheduler.hpp"

namespace chorale::simulation {

struct fiber {
  enum class state { ready, polls, sleeps, dozes, waits, ended };

  fiber(std::string its_name, int its_rank, std::uint16_t thread, std::function<void()> its_body)
      : name(std::move(its_name)), rank(its_rank), notes(its_rank, thread), body(std::move(its_body)) {}

  std::string name;
  int rank;
  fiber_record notes;
  std::function<void()> body;
  std::unique_ptr<context> flow;  ///< null after the fiber's end
  scheduler* owner = nullptr;
  state now = state::ready;
  instant time{};  ///< the fiber's own time when it was suspended
  event_id turn;   ///< the event that resumes it
  core_place place;
  instant stopped_until{};
  instant polls_since{};  ///< end of its last poll, which found nothing
  instant idle_since{};
  bool touched = false;    ///< since it last gave way
  bool signalled = false;  ///< since it last slept for a signal
  bool notified = false;
  background::list works;  ///< nonblocking calls that it has begun
  const char* waits_for = "";
  wait_list end;
};

}  // namespace chorale::simulation
