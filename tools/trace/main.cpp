// chorale-trace: merges the parts of a trace that the ranks of a job have left.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../lib/core/files.hpp"
#include "../../lib/core/printable.hpp"
#include "../../lib/transport/observers/trace_merge.hpp"
#include "../parsing.hpp"

namespace {

namespace fs = std::filesystem;
using chorale::printable;
using chorale::detail::held_folder;

constexpr const char* description =
    R"(Puts together the parts of a trace that ranks have left behind, into one file for https://ui.perfetto.dev.
A job with CHORALE_TRACE=FILE writes FILE itself when its communicators end. Of ranks that were killed, of hosts
that do not share a file system, and of jobs with long traces, the parts stay in FILE.JOB.parts; this command
puts those into FILE, and removes them. A job that still runs is better left alone: what it does later is lost.
Exit status: 0; 1 if there is nothing to put together, or a file cannot be read or written; 2 for a mistake in
the options.)";

/// The folders with parts of a trace file.
std::vector<std::string> folders_of(const std::string& file) {
  const fs::path path{file};
  const std::string prefix = path.filename().string() + ".";
  const fs::path beside = path.has_parent_path() ? path.parent_path() : fs::path{"."};
  std::vector<std::string> found;
  for (const std::string& name : held_folder::named(beside.string()).names())
    if (name.starts_with(prefix) && name.ends_with(".parts")) found.push_back((beside / name).string());
  return found;
}

/// Folders named by the user may be copies of another user's; a folder merely found next to the file may have
/// been planted to make this program read or remove the user's files.
std::vector<held_folder> hold(const std::vector<std::string>& folders, bool named) {
  std::vector<held_folder> held;
  for (const std::string& folder : folders) {
    try {
      held.push_back(named ? held_folder::named(folder) : held_folder::own(folder));
    } catch (const chorale::detail::file_refusal& refused) {
      throw std::runtime_error(
          fmt::format("{}: {}{}", printable(folder), refused.what(),
                      named ? "" : "; name it, if its parts are to be put together all the same"));
    }
  }
  return held;
}

int merge(const std::string& file, std::vector<std::string> folders, bool keeps) {
  const bool named = !folders.empty();
  if (!named) {
    folders = folders_of(file);
    if (folders.empty()) {
      chorale::say(stderr, "chorale-trace: there are no parts of {}: a job that ends well leaves none\n",
                   file);
      return 1;
    }
    if (folders.size() > 1) {
      chorale::say(stderr, "chorale-trace: several jobs have left parts of {}; name the folder of one:\n",
                   file);
      for (const std::string& folder : folders) chorale::say(stderr, "  {}\n", folder);
      return 1;
    }
  }
  const auto held = hold(folders, named);
  std::vector<chorale::transport::trace_place> parts;
  for (const held_folder& folder : held) {
    const auto more = chorale::transport::parts_in(folder);
    parts.insert(parts.end(), more.begin(), more.end());
  }
  if (parts.empty()) {
    chorale::say(stderr, "chorale-trace: there are no parts in {}\n", folders.front());
    return 1;
  }
  const auto made = chorale::transport::merge_trace(parts, file);
  chorale::say(stdout, "{}: {} records of {} parts, {} of which were not closed; {} records were dropped\n",
               made.file, made.records, made.parts, made.open, made.dropped);
  for (const std::string& remark : made.remarks) chorale::say(stdout, "{}\n", remark);
  if (keeps) return 0;
  for (const held_folder& folder : held) {
    for (const std::string& name : folder.names())
      if (chorale::transport::is_of_trace(name)) folder.remove(name);
    if (!folder.remove()) chorale::say(stdout, "{} stays, since there is more in it\n", folder.path());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{description, "chorale-trace"};
  app.set_version_flag("--version", CHORALE_TOOLS_VERSION);
  std::string file;
  std::vector<std::string> folders;
  bool keeps = false;
  app.add_option("file", file, "what CHORALE_TRACE was")->required();
  app.add_option(
      "folders", folders,
      "folders with parts of one job, such as copies from several hosts; without any it is the one "
      "beside FILE");
  app.add_flag("--keep", keeps, "leave the parts where they are");
  if (const int status = parsing::parse(app, argc, argv); status >= 0) return status;
  try {
    return merge(file, std::move(folders), keeps);
  } catch (const std::exception& e) {
    chorale::say(stderr, "chorale-trace: {}\n", e.what());
    return 1;
  }
}
