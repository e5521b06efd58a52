// SPDX-License-Identifier: Apache-2.0
// The common part of programs that measure collectives: their options, and the work of each rank.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <chorale/communicator.hpp>

#include "any_group.hpp"
#include "contestants.hpp"
#include "options.hpp"
#include "output.hpp"

namespace bench {

struct program_options : common_options {
  selection wanted{.transports = {"rc"}};
  bool fresh = false;
  bool check = false;
  bool list = false;
  std::string table;
  std::string plan;
};

/// The environment in which a program's ranks run.
struct place {
  std::string program;  ///< its name, for errors
  facts about;          ///< the program's own facts, printed before those of all such programs
  /// Called on each rank once it has a communicator that is not measured, if there is one. Collective.
  std::function<void(chorale::communicator<>& control, facts& about, sample_hooks& hooks)> prepare{};
  /// Facts known beforehand. If present, the ranks agree through their group, and only the measured
  /// communicators are made.
  struct known {
    std::string device;    ///< its name, and the reason for the choice
    bool crowded = false;  ///< ranks outnumber the cores of a host
    int places = 1;        ///< as of a `model::situation`
    int largest = 1;       ///< likewise
  };
  std::optional<known> is{};
  /// Time is virtual: the program has called check_outputs before starting the ranks, and facts about this
  /// host do not belong to the result.
  bool simulated = false;
};

void add_program_options(CLI::App& app, program_options& o);

/// The names of all algorithms, for --list.
void print_list();

/// Completes the parsed options, before the ranks start.
void settle(program_options& o);

/// Checks whether the files that `o` asks for can be written, as check_files does.
void check_outputs(const program_options& o);

/// Performs the measurements of `o` on the ranks of `group`; rank 0 prints. Collective. @returns the exit
/// status.
int run_rank(const program_options& o, const place& here, any_group group, onlooker* watched_by = nullptr);

}  // namespace bench
