// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "../../lib/core/printable.hpp"
#include "output.hpp"
#include "plotter.hpp"
#include "replaced_file.hpp"

namespace bench {

void add_file_options(CLI::App& app, files& f) {
  app.add_option("--json", f.json, "Also write the result to this file")->type_name("FILE");
  app.add_option("--csv", f.csv, "Also write the result to this file, a line for each row of the table")
      ->type_name("FILE");
  app.add_option("--plot", f.plot,
                 "Also draw time and bandwidth over the size into this file, an SVG, by chorale-plot; needs "
                 "gnuplot on the host of rank 0")
      ->type_name("FILE");
  app.add_option("--report", f.report,
                 "Also write a page of HTML with tables, pictures and the machine, which needs no other "
                 "file; needs gnuplot as --plot does, and Jinja2")
      ->type_name("FILE");
}

void check_files(const files& f) {
  for (const auto& name : {f.json, f.csv, f.plot, f.report}) {
    if (!name.empty()) check_file(name);
  }
  if (!f.plot.empty()) need_plotter("plot");
  if (!f.report.empty()) need_plotter("report");
}

bool can_write(const std::function<void()>& check, const std::string& program, chorale::bench::team& all) {
  bool can = true;
  if (all.rank() == 0) {
    try {
      check();
    } catch (const std::exception& e) {
      chorale::say(stderr, "{}: {}\n", program, e.what());
      can = false;
    }
  }
  return all.max(can ? 0 : 1) == 0;
}

void write_files(const files& f, const std::vector<named_result>& all) {
  std::exception_ptr first;
  const auto write = [&](const std::string& name, const std::function<std::string()>& make) {
    if (name.empty()) return;
    try {
      replace_file(name, make());
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  };
  write(f.json, [&] { return as_json(all.front().what); });
  write(f.csv, [&] { return as_csv(all.front().what); });
  write(f.plot, [&] { return plotted("plot", as_json(all)); });
  write(f.report, [&] { return plotted("report", as_json(all)); });
  if (first) std::rethrow_exception(first);
}

}  // namespace bench
