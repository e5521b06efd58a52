// SPDX-License-Identifier: Apache-2.0
#include "show.hpp"

#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <chorale/simulation/critical_path.hpp>

#include "../../lib/core/printable.hpp"
#include "../bench/plotter.hpp"
#include "../bench/replaced_file.hpp"
#include "deliveries.hpp"
#include "forms.hpp"

namespace seeing {
namespace {

const std::string sample_of = "sample of ";

std::string name_of(const bench::contestant& one, std::size_t bytes) {
  std::string text = fmt::format("{} {} over {}", one.operation, one.algorithm, one.transport);
  if (bytes != 0) text += fmt::format(", {} bytes", bytes);
  return text;
}

/// A window, and its meaning.
struct stretch {
  sim::window of;
  std::string name;
  std::vector<sim::phase_record> phases;  ///< the phases that it covers, if any
};

/// The last phase of that name, over all ranks.
stretch of_phase(const sim::recorder& notes, const std::string& phase, std::string name) {
  auto phases = notes.last_phases(phase);
  const auto all = window_of(phases);
  return {all, std::move(name), std::move(phases)};
}

/// Rejects a window with missing records.
stretch require_whole(const sim::recorder& notes, stretch found, int ranks) {
  const bool ranks_gone = !found.phases.empty() && found.phases.size() != static_cast<std::size_t>(ranks);
  if (ranks_gone || found.of.begin < notes.complete_since())
    throw std::runtime_error(fmt::format(
        "{} begins at {:.3f} us, and only the newest {} of {} records were kept, which are complete from "
        "{:.3f} us on: raise --records",
        found.name, us(found.of.begin), notes.records().size(), notes.made(), us(notes.complete_since())));
  return found;
}

stretch find_stretch(const sim::recorder& notes, const std::string& which, sim::duration elapsed, int ranks) {
  if (which == "call" || which == "sample") {
    for (auto one = notes.phases().rbegin(); one != notes.phases().rend(); ++one) {
      const auto& name = notes.name_of(*one);
      if (name.starts_with(sample_of)) continue;
      return require_whole(notes,
                           which == "call" ? of_phase(notes, name, "the last call of " + name)
                                           : of_phase(notes, sample_of + name, "the last sample of " + name),
                           ranks);
    }
    throw std::runtime_error("no measured call is among the records");
  }
  stretch found{which == "all" ? sim::window{{}, sim::instant{elapsed}} : parse_window(which), {}, {}};
  if (found.of.begin >= sim::instant{elapsed})
    throw std::runtime_error(fmt::format("--window {}: all had ended at {:.3f} us", which, us(elapsed)));
  found.name = which == "all" ? "the whole run" : fmt::format("--window {}", which);
  return require_whole(notes, std::move(found), ranks);
}

/// The trace as a text, of which a timeline is made.
std::string text_of_trace(const sim::recorder& notes, const stretch& what, int ranks,
                          const bench::facts& about) {
  // Several times that of the largest timeline, for which chorale-plot needs a gigabyte.
  constexpr std::size_t most = std::size_t{128} << 20;
  std::string text;
  const auto add = [&](std::string_view part) {
    text += part;
    if (text.size() > most)
      throw std::runtime_error(
          fmt::format("--timeline: there is too much to draw between {:.3f} and {:.3f} us; a shorter "
                      "--window or fewer ranks have less",
                      us(what.of.begin), us(what.of.end)));
  };
  write_trace(add, notes, what.of, ranks, about);
  return text;
}

std::string or_usual(const std::string& wish, const char* usual) {
  return wish.empty() ? usual : wish;
}

}  // namespace

void phases_of_bench::sample_begins(const bench::contestant& of, std::size_t bytes) {
  sample_.emplace(sample_of + name_of(of, bytes), bytes);
}

void phases_of_bench::sample_ends() {
  sample_.reset();
}

void phases_of_bench::call_begins(const bench::contestant& of, std::size_t bytes) {
  call_.emplace(name_of(of, bytes), bytes);
}

void phases_of_bench::call_ends() {
  call_.reset();
}

bool show(const wishes& w, const sim::recorder& notes, sim::duration elapsed, int ranks, bench::facts about) {
  bool all_shown = true;
  // One that fails must not prevent the others, which may be the result of a long simulation.
  const auto attempt = [&](const auto& action) {
    try {
      action();
    } catch (const std::exception& e) {
      chorale::say(stderr, "chorale-sim: {}\n", e.what());
      all_shown = false;
    }
  };
  const auto write_files = [&] {
    const auto what = find_stretch(notes, or_usual(w.stretch, "sample"), elapsed, ranks);
    about.emplace_back("of", what.name);
    about.emplace_back("from, to", fmt::format("{:.3f} us, {:.3f} us", us(what.of.begin), us(what.of.end)));
    chorale::say(stdout, "\n# of {}, {:.3f} to {:.3f} us of virtual time:\n", what.name, us(what.of.begin),
                 us(what.of.end));
    if (!w.trace.empty())
      attempt([&] {
        bench::replaced_file out{w.trace};
        write_trace([&](std::string_view part) { out.write(part); }, notes, what.of, ranks, about);
        out.finish();
        chorale::say(stdout, "# {}: the trace\n", w.trace);
      });
    if (!w.timeline.empty())
      attempt([&] {
        bench::replace_file(w.timeline, bench::plotted("timeline", text_of_trace(notes, what, ranks, about)));
        chorale::say(stdout, "# {}: the timeline\n", w.timeline);
      });
    if (!w.goal.empty())
      attempt([&] {
        const auto count = write_goal(w.goal, notes, what.of, ranks, about);
        chorale::say(stdout, "# {}: the schedule, {} messages\n", w.goal, count);
      });
  };
  if (w.writes()) attempt(write_files);
  if (w.critical_path)
    attempt([&] {
      const auto what = find_stretch(notes, or_usual(w.stretch, "call"), elapsed, ranks);
      const auto path = what.phases.empty() ? find_critical_path(notes, what.of, last_to_work(notes, what.of))
                                            : find_critical_path(notes, what.phases);
      chorale::say(stdout, "{}", in_words(path, what.name));
    });
  return all_shown;
}

}  // namespace seeing
