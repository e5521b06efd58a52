// SPDX-License-Identifier: Apache-2.0
// The command-line options of a benchmark program: sizes, samples, time.
#pragma once

#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <chorale/bench/plan.hpp>

namespace chorale::bench {

inline constexpr const char* command_line_help =
    "  --sizes BYTES,...  bytes of a message, or of the block of one rank: 8,64KiB,1MiB\n"
    "  --samples N        samples into which the calls are divided, 1 to 1000000\n"
    "  --budget SECONDS   time for one algorithm at one size, 0.001 to 3600\n"
    "  --no-check         results are not compared with an independent computation\n"
    "  --help             this text\n";

/// The parsed command line.
struct command_line {
  limits limit;
  bool check = true;
  bool help = false;
};

namespace detail {

template <class Number>
Number number_from(std::string_view option, std::string_view text, Number least, Number most) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  // The condition is negated so that it also rejects NaN.
  if (failure != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most))
    throw std::invalid_argument(
        fmt::format("{} takes a number from {} to {}, not '{}'", option, least, most, text));
  return value;
}

inline std::size_t bytes_from(std::string_view text) {
  constexpr std::size_t most = std::size_t{1} << 34;
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto suffix = text.substr(digits);
  int shift = -1;
  if (suffix.empty() || suffix == "B") shift = 0;
  if (suffix == "K" || suffix == "KiB") shift = 10;
  if (suffix == "M" || suffix == "MiB") shift = 20;
  if (suffix == "G" || suffix == "GiB") shift = 30;
  if (shift < 0 || digits == 0)
    throw std::invalid_argument(fmt::format(
        "--sizes takes numbers of bytes with commas between, as in 8,64KiB,1MiB; not '{}'", text));
  const auto value = number_from<std::size_t>("--sizes", text.substr(0, digits), 1, most);
  if (value > most >> shift)
    throw std::invalid_argument(fmt::format("--sizes takes at most 16GiB, not '{}'", text));
  return value << shift;
}

inline std::vector<std::size_t> sizes_from(std::string_view text) {
  std::vector<std::size_t> sizes;
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    sizes.push_back(bytes_from(text.substr(from, comma - from)));
    from = comma + 1;
  }
  return sizes;
}

}  // namespace detail

/// Reads `--option value` and `--option=value`. @throws std::invalid_argument that names the option and the
/// fault.
inline command_line parse(int argc, const char* const* argv) {
  command_line found;
  found.limit.sizes = {8, 1024, 65536, std::size_t{1} << 20};
  for (int i = 1; i < argc; ++i) {
    std::string_view option = argv[i];
    if (option == "--help") {
      found.help = true;
      continue;
    }
    if (option == "--no-check") {
      found.check = false;
      continue;
    }
    std::string_view value;
    const auto equals = option.find('=');
    if (equals != std::string_view::npos) {
      value = option.substr(equals + 1);
      option = option.substr(0, equals);
    }
    if (option != "--sizes" && option != "--samples" && option != "--budget")
      throw std::invalid_argument(
          fmt::format("there is no option '{}'; the options are:\n{}", argv[i], command_line_help));
    if (equals == std::string_view::npos) {
      if (++i == argc) throw std::invalid_argument(fmt::format("{} takes a value", option));
      value = argv[i];
    }
    if (option == "--sizes")
      found.limit.sizes = detail::sizes_from(value);
    else if (option == "--samples")
      found.limit.samples = detail::number_from(option, value, 1, 1'000'000);
    else
      found.limit.budget = detail::number_from(option, value, 0.001, 3600.0);
  }
  return found;
}

}  // namespace chorale::bench
