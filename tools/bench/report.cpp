#include "report.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "markup.hpp"
#include "plot.hpp"
#include "strips.hpp"

namespace bench {
namespace {

using output = std::back_insert_iterator<std::string>;

constexpr const char* head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>Collectives, measured</title>
<style>
body { font: 15px/1.45 sans-serif; color: #111; background: #fff; max-width: 1260px; margin: 1.5em auto; padding: 0 1em; }
h1 { font-size: 1.7em; margin-bottom: 0.2em; }
h2 { font-size: 1.3em; margin: 2em 0 0.4em; border-bottom: 1px solid #bbb; }
nav a { margin-right: 1em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 0.6em 0; }
caption { text-align: left; font-weight: bold; padding-bottom: 0.2em; white-space: nowrap; }
figure { margin: 0.5em 0; }
th, td { border: 1px solid #ccc; padding: 0.15em 0.5em; text-align: right; vertical-align: top; white-space: nowrap; }
th { background: #eee; font-weight: 600; }
th.name, td.name { text-align: left; }
td.text { text-align: left; white-space: normal; overflow-wrap: anywhere; }
td small { display: block; color: #555; }
td.best { background: #dcefdc; font-weight: bold; }
td.wrong { background: #f6c9c9; }
.wide { overflow-x: auto; }
svg { max-width: 100%; height: auto; }
details { margin: 0.6em 0; }
@media print { nav { display: none; } section { break-inside: avoid; } }
</style>
</head>
<body>
)";

/// Explains the numbers below the medians, and samples.
constexpr const char* reading = R"(<section id="reading"><h2>How to read this</h2>
<p>Times are microseconds of one call: the median over the samples, below it {}. {} The fastest of a size is marked: two that overlap
may come out the other way round in another run. Sizes are bytes of the message, or of the block of one rank; bandwidth is
size by time. Where ranks outnumber cores, calls with a root count with the barrier before them.</p></section>
)";
constexpr const char* samples_of_a_run =
    "In each sample the time of a call is averaged over its calls and over the ranks; algorithms take turns "
    "sample by sample.";
constexpr const char* samples_of_programs =
    "A sample is what one run of a program says of a size; the programs take turns.";

std::string id_of(std::size_t number) {
  return fmt::format("strip-{}", number);
}

/// Three significant digits, without exponent.
std::string digits(double value) {
  const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

void write_facts(output into, const char* caption, const facts& all) {
  if (all.empty()) return;
  fmt::format_to(into, "<table><caption>{}</caption>\n", caption);
  for (const auto& [name, value] : all)
    fmt::format_to(into, "<tr><th class=\"name\" scope=\"row\">{}</th><td class=\"text\">{}</td></tr>\n",
                   escaped(name), escaped(value));
  fmt::format_to(into, "</table>\n");
}

/// The fastest mark at each size.
std::map<double, const mark*> fastest_of(const strip& one) {
  std::map<double, const mark*> best;
  for (const curve& c : one.curves) {
    for (const mark& m : c.marks) {
      auto& so_far = best[m.bytes];
      if (so_far == nullptr || m.time < so_far->time) so_far = &m;
    }
  }
  return best;
}

std::string size_head(const strip& one, double bytes) {
  return one.sized ? size_text(bytes) : "no bytes";
}

/// The fastest curve for each operation and size, and its lead.
void write_summary(output into, const std::vector<strip>& strips) {
  std::set<double> sizes;
  for (const strip& one : strips) {
    for (const curve& c : one.curves)
      for (const mark& m : c.marks) sizes.insert(m.bytes);
  }
  fmt::format_to(
      into,
      "<section id=\"summary\"><h2>The fastest</h2><div class=\"wide\"><table>\n<tr><th class=\"name\" "
      "scope=\"col\">operation</th>");
  for (const double bytes : sizes)
    fmt::format_to(into, "<th scope=\"col\">{}</th>", bytes > 0 ? size_text(bytes) : "no bytes");
  fmt::format_to(into, "</tr>\n");
  for (std::size_t i = 0; i < strips.size(); ++i) {
    const auto best = fastest_of(strips[i]);
    fmt::format_to(into, "<tr><th class=\"name\" scope=\"row\"><a href=\"#{}\">{}</a></th>", id_of(i),
                   escaped(strips[i].title));
    for (const double bytes : sizes) {
      std::string cell;
      for (const curve& c : strips[i].curves) {
        for (const mark& m : c.marks)
          if (best.contains(bytes) && best.at(bytes) == &m)
            cell = fmt::format("{}<small>{} us</small>", escaped(c.name), digits(m.time));
      }
      fmt::format_to(into, "<td>{}</td>", cell);
    }
    fmt::format_to(into, "</tr>\n");
  }
  fmt::format_to(into, "</table></div></section>\n");
}

/// A table with a line for each curve and a column for each size.
void write_times(output into, const strip& one) {
  const auto best = fastest_of(one);
  fmt::format_to(
      into,
      "<div class=\"wide\"><table><caption>Microseconds of a call{}</caption>\n<tr><th class=\"name\" "
      "scope=\"col\">algorithm</th>",
      one.with_barrier ? " and its barrier" : "");
  for (const auto& [bytes, unused] : best)
    fmt::format_to(into, "<th scope=\"col\">{}</th>", size_head(one, bytes));
  fmt::format_to(into, "</tr>\n");
  for (const curve& c : one.curves) {
    fmt::format_to(into, "<tr><th class=\"name\" scope=\"row\">{}</th>", escaped(c.name));
    for (const auto& [bytes, winner] : best) {
      const auto found =
          std::find_if(c.marks.begin(), c.marks.end(), [at = bytes](const mark& m) { return m.bytes == at; });
      if (found == c.marks.end()) {
        fmt::format_to(into, "<td></td>");
        continue;
      }
      const bool wrong = found->of->wrong.value_or(0) > 0;
      fmt::format_to(into, "<td{}>{}<small>{}</small></td>",
                     wrong               ? " class=\"wrong\""
                     : &*found == winner ? " class=\"best\""
                                         : "",
                     digits(found->time) + (wrong ? " WRONG" : ""),
                     one.with_barrier ? "" : digits(found->low) + " to " + digits(found->high));
    }
    fmt::format_to(into, "</tr>\n");
  }
  fmt::format_to(into, "</table></div>\n");
}

/// A table with all measured values.
void write_everything(output into, const strip& one) {
  fmt::format_to(
      into,
      "<details><summary>All figures</summary><div class=\"wide\"><table>\n<tr><th "
      "class=\"name\">algorithm</th>"
      "<th>bytes</th><th>median</th><th>p10</th><th>p90</th><th>p99</th><th>fastest rank</th><th>slowest "
      "rank</th>"
      "<th>with barrier</th><th>samples</th><th>flag floor</th><th>MB/s</th><th>check</th></tr>\n");
  for (const curve& c : one.curves) {
    for (const mark& m : c.marks) {
      const row& r = *m.of;
      fmt::format_to(into, "<tr><td class=\"name\">{}</td><td>{}</td>", escaped(c.name), r.bytes);
      for (const double value : {r.median, r.p10, r.p90, r.p99, r.fastest, r.slowest, r.wall})
        fmt::format_to(into, "<td>{:.3f}</td>", value);
      const bool wrong = r.wrong.value_or(0) > 0;
      fmt::format_to(into, "<td>{}x{}</td><td>{}</td><td>{}</td><td{}>{}</td></tr>\n", r.samples, r.calls,
                     r.floor ? fmt::format("{:.3f}", *r.floor) : "",
                     one.sized ? digits(bandwidth(m.bytes, m.time)) : "", wrong ? " class=\"wrong\"" : "",
                     !r.wrong ? ""
                     : wrong  ? fmt::format("{} ranks WRONG", *r.wrong)
                              : "right");
    }
  }
  fmt::format_to(into, "</table></div></details>\n");
}

void write_strip(output into, const strip& one, std::size_t number) {
  fmt::format_to(into, "<section id=\"{}\"><h2>{}</h2>\n", id_of(number), escaped(one.title));
  if (!one.curves.empty()) {
    fmt::format_to(into, "<figure class=\"wide\">{}</figure>\n",
                   inlined(svg_of({}, {one}), id_of(number) + '-'));
    write_times(into, one);
    write_everything(into, one);
  }
  for (const std::string& what : one.left_out)
    fmt::format_to(into, "<p>Left out, since a time is above zero: {}</p>\n", escaped(what));
  fmt::format_to(into, "</section>\n");
}

}  // namespace

std::string report_html(const std::vector<named_result>& all) {
  const auto strips = strips_of(all);
  std::string out = head;
  const output into = std::back_inserter(out);
  fmt::format_to(
      into,
      "<h1>Collectives, measured</h1>\n<nav aria-label=\"Contents\"><a href=\"#run\">machine and run</a>"
      "<a href=\"#reading\">how to read this</a><a href=\"#summary\">the fastest</a>");
  for (std::size_t i = 0; i < strips.size(); ++i)
    fmt::format_to(into, "<a href=\"#{}\">{}</a>\n", id_of(i), escaped(strips[i].title));
  fmt::format_to(into, "</nav>\n<section id=\"run\"><h2>The machine and the run</h2>\n");
  for (const named_result& one : all) {
    if (!one.name.empty()) fmt::format_to(into, "<h3>{}</h3>\n", escaped(one.name));
    write_facts(into, "Library", one.what.about);
    write_facts(into, "Machine (the host of rank 0)", one.what.machine);
    write_facts(into, "Run", one.what.run);
    if (const int wrong = count_wrong(one.what.rows); wrong > 0)
      fmt::format_to(into, "<p><strong>{} results were WRONG.</strong></p>\n", wrong);
  }
  const auto bars = bars_of(all);
  fmt::format_to(into, "</section>\n");
  fmt::format_to(into, reading, bars ? escaped(*bars) : "the 10th and the 90th percentile",
                 bars ? samples_of_programs : samples_of_a_run);
  write_summary(into, strips);
  for (std::size_t i = 0; i < strips.size(); ++i) write_strip(into, strips[i], i);
  return out + "</body>\n</html>\n";
}

}  // namespace bench
