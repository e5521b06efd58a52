// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <sched.h>
#include <sstream>
#include <string_view>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "../../lib/core/system_files.hpp"
#include "result.hpp"

namespace bench {
namespace {

std::string first_line(const std::filesystem::path& file) {
  const std::string text = chorale::detail::text_of_system(file);
  return text.substr(0, text.find('\n'));
}

/// The text after the colon in the first line of that name.
std::string value_in(const char* file, std::string_view name) {
  std::istringstream in{chorale::detail::text_of_system(file)};
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, name.size(), name) != 0) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    if (line.find_first_not_of(" \t", name.size()) == colon && begin != std::string::npos)
      return line.substr(begin);
  }
  return {};
}

std::string cores() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  const long all = sysconf(_SC_NPROCESSORS_ONLN);
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return fmt::format("{}", all);
  return fmt::format("{}; rank 0 may use {}", all, CPU_COUNT(&usable));
}

std::string caches() {
  std::string out;
  for (int index = 0; index < 8; ++index) {
    const std::filesystem::path of{fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}", index)};
    const std::string size = first_line(of / "size");
    if (size.empty()) break;
    const std::string kind = first_line(of / "type");
    out += fmt::format("{}L{}{} {} of cores {}", out.empty() ? "" : ", ", first_line(of / "level"),
                       kind == "Data"          ? "d"
                       : kind == "Instruction" ? "i"
                                               : "",
                       size, first_line(of / "shared_cpu_list"));
  }
  return out;
}

std::string memory() {
  double kib = 0;
  std::istringstream{value_in("/proc/meminfo", "MemTotal")} >> kib;
  return kib > 0 ? fmt::format("{:.0f} GiB", kib / (1 << 20)) : "";
}

std::string hypervisor() {
  std::istringstream flags{value_in("/proc/cpuinfo", "flags")};
  for (std::string flag; flags >> flag;) {
    if (flag != "hypervisor") continue;
    const std::string vendor = first_line("/sys/class/dmi/id/sys_vendor");
    return vendor.empty() ? "yes" : fmt::format("yes ({})", vendor);
  }
  return "none that the processor tells of";
}

/// Quoted for a shell.
std::string shell_word(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,/:@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return out + '\'';
}

/// Replaces non-ASCII bytes, which may be invalid UTF-8 and thus invalid JSON.
std::string in_ascii(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

std::string command_line() {
  std::istringstream in{chorale::detail::text_of_system("/proc/self/cmdline")};
  std::string out;
  for (std::string word; std::getline(in, word, '\0');) {
    if (!out.empty()) out += ' ';
    out += shell_word(word);
  }
  return out;
}

std::string settings() {
  std::vector<std::string> all;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    if (std::string_view{*one}.starts_with("CHORALE_")) all.emplace_back(shell_word(*one));
  }
  std::sort(all.begin(), all.end());
  return fmt::format("{}", fmt::join(all, " "));
}

void add(facts& to, const char* name, const std::string& value) {
  if (!value.empty()) to.emplace_back(name, in_ascii(value));
}

}  // namespace

facts machine_facts() {
  facts all;
  utsname names{};
  uname(&names);
  add(all, "host", names.nodename);
  std::string model = value_in("/proc/cpuinfo", "model name");
  add(all, "processor", model.empty() ? names.machine : model);
  add(all, "cores", cores());
  add(all, "caches", caches());
  add(all, "memory", memory());
  add(all, "kernel", fmt::format("{} {}", names.sysname, names.release));
  add(all, "hypervisor", hypervisor());
  return all;
}

facts run_facts() {
  facts all;
  add(all, "command", command_line());
  add(all, "settings", settings());
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  add(all, "date", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(now)));
  std::array<double, 1> load{};
  if (getloadavg(load.data(), 1) == 1)
    add(all, "load at the end", fmt::format("{:.2f} (mean of a minute)", load[0]));
  return all;
}

}  // namespace bench
