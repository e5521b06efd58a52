// What programs that measure the collectives have in common: their options, and what each rank does.
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

/// Where a program's ranks run.
struct place {
  std::string program;  ///< its name, for errors
  facts about;          ///< what it says of itself before it says what all such programs do
  /// Called on each rank once it has a communicator that nobody measures, if there is one. Collective.
  std::function<void(chorale::communicator<>& control, facts& about, surroundings& around)> prepare{};
  /// What is known of it beforehand. If it is there the ranks agree by their group, and no communicator is
  /// made besides those that are measured.
  struct known {
    std::string device;    ///< its name, and why it is that one
    bool crowded = false;  ///< ranks outnumber the cores of a host
  };
  std::optional<known> is{};
  /// Time is virtual: the program has called check_files before there were ranks, and this host says nothing
  /// about the result.
  bool simulated = false;
};

void add_program_options(CLI::App& app, program_options& o);

/// The names of all algorithms, for --list.
void print_list();

/// Completes what was parsed, before any rank has it.
void settle(program_options& o);

/// Measures what `o` asks for on the ranks of `group`; rank 0 speaks. Collective. @returns the exit status.
int run_rank(const program_options& o, const place& here, any_group group, onlooker* watched_by = nullptr);

}  // namespace bench
