// SPDX-License-Identifier: Apache-2.0
#include "set_ups.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "../../lib/core/files.hpp"
#include "../../lib/core/printable.hpp"
#include "../../lib/core/settings.hpp"
#include "options.hpp"
#include "output.hpp"

namespace bench {
namespace {

using nlohmann::json;

template <class Choice>
Choice one_of(const json& where, const char* key,
              std::initializer_list<std::pair<const char*, Choice>> choices) {
  if (!where.contains(key)) return choices.begin()->second;
  const auto wanted = where.at(key).get<std::string>();
  std::string names;
  for (const auto& [name, value] : choices) {
    if (wanted == name) return value;
    names += fmt::format(" \"{}\"", name);
  }
  throw std::runtime_error(fmt::format("\"{}\" is \"{}\", and must be one of{}", key, wanted, names));
}

void refuse_other_keys(const json& object, const std::set<std::string>& known) {
  for (const auto& [key, value] : object.items()) {
    if (!known.contains(key)) throw std::runtime_error(fmt::format("\"{}\" is not known here", key));
  }
}

chorale::config read_settings(const json& where) {
  auto result = chorale::config::from_environment();
  if (!where.contains("settings")) return result;
  const auto& all = chorale::settings();
  for (const auto& [variable, text] : where.at("settings").items()) {
    const std::string& wanted = variable;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.variable == wanted; });
    if (found == all.end() || !found->set)
      throw std::runtime_error(
          fmt::format("\"{}\" is no setting of a communicator; docs/settings.md lists them", wanted));
    const auto value = text.get<std::string>();
    if (!found->set(result, value))
      throw std::runtime_error(fmt::format("{} is '{}'; it takes {}", wanted, value, found->accepts));
  }
  return result;
}

named_contestant read_contestant(const json& from) {
  refuse_other_keys(from, {"name", "transport", "algorithm", "memory", "settings"});
  const std::span all{fresh_memory};
  return {.name = from.at("name").get<std::string>(),
          .transport = from.at("transport").get<std::string>(),
          .algorithm = from.at("algorithm").get<std::string>(),
          .memory = one_of<std::span<const memory_use>>(from, "memory",
                                                        {{"one buffer", std::span{&same_memory, 1}},
                                                         {"in turns", all.subspan(1, 1)},
                                                         {"fresh", all.subspan(2, 1)}}),
          .settings = read_settings(from)};
}

set_up read_set_up(const json& from) {
  refuse_other_keys(from, {"name", "operation", "timing", "sizes", "contestants"});
  set_up one;
  one.name = from.at("name").get<std::string>();
  one.operation = from.at("operation").get<std::string>();
  const auto& known = all_operations();
  if (std::find(known.begin(), known.end(), one.operation) == known.end())
    throw std::runtime_error(fmt::format("\"operation\" is \"{}\", which is none", one.operation));
  one.timing = one_of<timing>(from, "timing",
                              {{"each call", timing::each_call},
                               {"back to back", timing::back_to_back},
                               {"last leaf", timing::last_leaf}});
  if (one.timing == timing::last_leaf && one.operation != "broadcast")
    throw std::runtime_error("\"timing\" is \"last leaf\", which only a broadcast has");
  for (const json& size : from.value("sizes", json::array())) {
    if (!size.is_number_unsigned() || size < least_bytes(one.operation) || size > most_bytes)
      throw std::runtime_error(fmt::format("\"sizes\" has {}, and takes whole numbers from {} to {}",
                                           size.dump(), least_bytes(one.operation), most_bytes));
    one.sizes.push_back(size.get<std::size_t>());
  }
  if (one.sizes.empty() != (one.operation == "barrier"))
    throw std::runtime_error("\"sizes\" must have at least one, for a barrier none");
  std::set<std::string> names;
  for (const auto& contestant : from.at("contestants")) {
    one.contestants.push_back(read_contestant(contestant));
    if (!names.insert(one.contestants.back().name).second)
      throw std::runtime_error(fmt::format("two contestants are named \"{}\"", one.contestants.back().name));
  }
  return one;
}

/// The contestant; null if the device cannot run it. Collective.
std::unique_ptr<contestant> enter_named(const set_up& of, const named_contestant& wanted, const job& ranks,
                                        buffers& memory) {
  const selection exactly{.operations = {of.operation},
                          .transports = {wanted.transport},
                          .algorithms = {wanted.algorithm},
                          .whole_names = true,
                          .timing = of.timing,
                          .memory = wanted.memory,
                          .settings = wanted.settings};
  const auto listed = list_all();
  if (std::none_of(listed.begin(), listed.end(), [&](const listing& l) { return selected(exactly, l); }))
    throw std::runtime_error(fmt::format(
        "set-up \"{}\": contestant \"{}\": there is no {} {} over {}; chorale-bench --list shows what is",
        of.name, wanted.name, of.operation, wanted.algorithm, wanted.transport));
  auto made = enter_all(exactly, ranks, memory);
  return made.empty() ? nullptr : std::move(made.front());
}

std::vector<result_row> measure_one(const set_up& of, const job& in, const limits& l,
                                    const sample_hooks& hooks) {
  team& ranks = in.all;
  const std::size_t most =
      of.sizes.empty() ? sizeof(float) : *std::max_element(of.sizes.begin(), of.sizes.end());
  const bool in_turns = std::any_of(of.contestants.begin(), of.contestants.end(),
                                    [](const auto& c) { return c.memory.front().places > 1; });
  buffers memory{std::max(most, sizeof(float)), blocks_of({of.operation}, ranks.size()),
                 in_turns ? places_in_turns : 1};
  contestants entered;
  std::vector<std::string> names;
  for (const auto& wanted : of.contestants) {
    if (auto made = enter_named(of, wanted, in, memory)) {
      entered.push_back(std::move(made));
      names.push_back(wanted.name);
    } else if (ranks.rank() == 0) {
      chorale::say(stdout, "# {} is not measured: the device cannot run {} over {}\n", wanted.name,
                   wanted.algorithm, wanted.transport);
    }
  }
  std::vector<contestant*> field;
  for (const auto& one : entered) field.push_back(one.get());
  std::vector<result_row> result;
  limits these = l;
  these.sizes = of.sizes;
  for (const auto bytes : field.empty() ? std::vector<std::size_t>{} : sizes_of(of.operation, these)) {
    const auto rows = measure(field, bytes, ranks, these, hooks);
    if (ranks.rank() == 0) print_rows(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) result.push_back({of.name, names[i], rows[i]});
  }
  return result;
}

}  // namespace

std::vector<set_up> read_set_ups(const std::string& file) {
  constexpr std::size_t largest_file = std::size_t{16} << 20;
  std::vector<set_up> all;
  std::string where = "the list";
  try {
    const json document = json::parse(chorale::detail::text_of_file(file, largest_file));
    refuse_other_keys(document, {"set_ups"});
    for (const auto& one : document.at("set_ups")) {
      where = fmt::format("set-up {} ({})", all.size() + 1, one.value("name", "no name"));
      all.push_back(read_set_up(one));
    }
  } catch (const std::exception& e) {
    throw std::runtime_error(fmt::format("{}: {}: {}", chorale::printable(file), chorale::printable(where),
                                         chorale::printable(e.what())));
  }
  return all;
}

std::vector<result_row> measure_set_ups(const std::vector<set_up>& all_of_them, const facts& about,
                                        const job& in, const limits& l, const sample_hooks& hooks) {
  const bool speaks = in.all.rank() == 0;
  if (speaks) print_preamble(about, l, false);
  const bool comparable = in.all.one_host();
  std::vector<result_row> result;
  for (const auto& one : all_of_them) {
    if (one.timing == timing::last_leaf && !comparable)
      throw std::runtime_error(fmt::format(
          "set-up \"{}\": the time to the last leaf needs ranks on one host, which share a clock", one.name));
    if (speaks) {
      chorale::say(stdout, "\n# set-up {}", one.name);
      print_head(one.operation, false, hooks.check);
    }
    const auto rows = measure_one(one, in, l, hooks);
    result.insert(result.end(), rows.begin(), rows.end());
  }
  return result;
}

}  // namespace bench
