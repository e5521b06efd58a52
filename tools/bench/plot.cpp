#include "plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "gnuplot.hpp"
#include "markup.hpp"

namespace bench {
namespace {

// Pixels.
constexpr double width = 1240;
constexpr double line_height = 16;
constexpr double key_line_height = 17;  ///< gnuplot's height of a key line in this font, rounded up
constexpr double least_height = 330;    ///< of a strip
constexpr double title_height = 34;     ///< above its panels
constexpr double foot_height = 52;      ///< below them
constexpr double panel_width = 360;
constexpr double first_panel = 84;
constexpr double second_panel = 530;
constexpr double key = 915;
constexpr std::size_t most_characters = 190;  ///< of a line above or below

// Colours that the colour-blind can tell apart (Okabe and Ito). The numbers of kinds have no common divisor,
// so that hundreds of curves differ. tools/plots/gnuplot.py has the same.
constexpr std::array<const char*, 7> colours{"#000000", "#d55e00", "#0072b2", "#009e73",
                                             "#cc79a7", "#e69f00", "#56b4e9"};
constexpr std::array<int, 13> points{7, 4, 9, 12, 5, 10, 13, 6, 11, 8, 2, 1, 3};
constexpr std::array<int, 5> dashes{1, 2, 4, 5, 3};

using output = std::back_insert_iterator<std::string>;

/// From the smallest to the largest value, both positive.
struct range {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;

  void add(double value) {
    if (!std::isfinite(value) || value <= 0) return;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  /// With a margin at both ends, of at least this factor.
  [[nodiscard]] range widened(double by) const {
    const double room = std::max(by, std::pow(most / least, 0.05));
    return {least / room, most * room};
  }
};

/// Powers of ten; if there are few, also 2 and 5 times these.
std::string ticks_of(const range& r) {
  const bool few = r.most / r.least < 1000;
  const int first = static_cast<int>(std::floor(std::log10(r.least)));
  const int last = static_cast<int>(std::ceil(std::log10(r.most)));
  std::string out;
  for (int power = first; power <= last; ++power) {
    for (const int digit : {1, 2, 5}) {
      const double value = digit * std::pow(10, power);
      if ((digit > 1 && !few) || value < r.least || value > r.most) continue;
      out += fmt::format("{}'{:.15g}' {:.15g}", out.empty() ? "" : ", ", value, value);
    }
  }
  return out;
}

/// Measured sizes, as many as fit.
std::string ticks_of_sizes(std::vector<double> sizes, const range& r) {
  std::sort(sizes.begin(), sizes.end());
  const double room = std::log2(r.most / r.least) / 7;
  double last = -std::numeric_limits<double>::infinity();
  std::string out;
  for (const double bytes : sizes) {
    if (std::log2(bytes) - last < room) continue;
    last = std::log2(bytes);
    out += fmt::format("{}'{}' {:.17g}", out.empty() ? "" : ", ", size_text(bytes), bytes);
  }
  return out;
}

/// The height of a strip's panels, at least that of the key: gnuplot breaks a key that is higher than its
/// panel into columns, for which the picture has no room.
double panel_height(const strip& of) {
  return std::max(least_height - title_height - foot_height,
                  key_line_height * static_cast<double>(of.curves.size() + 1));
}

/// One of the two panels of a strip.
struct panel {
  bool is_time;
  const char* y_label;
  double left;  ///< pixels
};

/// The layout of the picture, in pixels.
struct page {
  double top;
  double whole;  ///< height of the picture
};

/// The name of a curve's data block.
std::string block(bool is_time, std::size_t strip_number, std::size_t curve_number) {
  return fmt::format("${}_{}_{}", is_time ? "time" : "rate", strip_number, curve_number);
}

void write_data(output into, const strip& of, std::size_t number) {
  // Bars that reach zero end far beyond the axis.
  constexpr double next_to_nothing = 1e-30;
  for (std::size_t i = 0; i < of.curves.size(); ++i) {
    std::string times;
    std::string rates;
    for (const mark& m : of.curves[i].marks) {
      const double x = of.sized ? m.bytes : static_cast<double>(i + 1);
      const double low = std::max(m.low, next_to_nothing);
      times += fmt::format("{:.17g} {:.9g} {:.9g} {:.9g}\n", x, m.time, low, m.high);
      rates += fmt::format("{:.17g} {:.9g} {:.9g} {:.9g}\n", x, bandwidth(m.bytes, m.time),
                           bandwidth(m.bytes, m.high), bandwidth(m.bytes, low));
    }
    fmt::format_to(into, "{} << END\n{}END\n", block(true, number, i), times);
    if (of.sized) fmt::format_to(into, "{} << END\n{}END\n", block(false, number, i), rates);
  }
}

/// Writes the commands for both axes, with their ticks.
void write_axes(output into, const strip& of, const panel& p) {
  range y;
  range x;
  std::vector<double> sizes;
  for (const curve& one : of.curves) {
    for (const mark& m : one.marks) {
      for (const double value : {m.time, m.low, m.high})
        if (value > 0) y.add(p.is_time ? value : bandwidth(m.bytes, value));
      x.add(m.bytes);
      sizes.push_back(m.bytes);
    }
  }
  y = y.widened(1.1);
  fmt::format_to(into, "set ylabel {}\nset yrange [{:.9g}:{:.9g}]\nset ytics ({})\nset logscale y 10\n",
                 gnuplot_string(p.y_label), y.least, y.most, ticks_of(y));
  if (of.sized) {
    x = x.widened(1.2);
    fmt::format_to(into,
                   "set logscale x 2\nset xrange [{:.17g}:{:.17g}]\nset xtics ({})\nset xlabel 'size'\n",
                   x.least, x.most, ticks_of_sizes(sizes, x));
  } else {
    fmt::format_to(into,
                   "unset logscale x\nset xrange [0:{}]\nunset xtics\nset xlabel 'in the order of the key'\n",
                   of.curves.size() + 1);
  }
}

void write_panel(output into, const strip& of, std::size_t number, const panel& p, const page& at) {
  fmt::format_to(into,
                 "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\n"
                 "set tmargin at screen {:.6f}\nset bmargin at screen {:.6f}\n",
                 p.left / width, (p.left + panel_width) / width, 1 - at.top / at.whole,
                 1 - (at.top + panel_height(of)) / at.whole);
  write_axes(into, of, p);
  // One key for both panels.
  if (p.is_time)
    fmt::format_to(into,
                   "set key at screen {:.6f},{:.6f} left top Left reverse vertical maxrows {} samplen 4\n",
                   (of.sized ? key : second_panel) / width, 1 - at.top / at.whole, of.curves.size());
  else
    fmt::format_to(into, "unset key\n");
  // Bars as vectors: error bars erase the background of their points.
  std::string curves;
  for (std::size_t i = 0; i < of.curves.size(); ++i)
    curves += fmt::format(
        "{0}{1} using 1:3:(0):($4-$3) with vectors nohead linetype {2} dashtype 1 linewidth 0.6 notitle, \\\n"
        "  {1} using 1:2 with linespoints linetype {2} title {3}",
        i == 0 ? "" : ", \\\n  ", block(p.is_time, number, i), i + 1, gnuplot_string(of.curves[i].name));
  fmt::format_to(into, "plot {}\n", curves);
}

std::string shortened(const std::string& text) {
  if (text.size() <= most_characters) return text;
  std::size_t end = most_characters - 3;
  // Do not cut within a multi-byte character.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

double height_of(const strip& one) {
  return title_height + panel_height(one) + foot_height + (one.left_out.empty() ? 0 : line_height);
}

}  // namespace

std::string plot_commands(const std::vector<std::string>& above, const std::vector<strip>& strips) {
  std::size_t most_curves = 0;
  double whole = 12 + line_height * static_cast<double>(above.size());
  for (const strip& one : strips) {
    whole += height_of(one);
    most_curves = std::max(most_curves, one.curves.size());
  }
  std::string out;
  const output into = std::back_inserter(out);
  fmt::format_to(into,
                 "set encoding utf8\n"
                 "set terminal svg size {:.0f},{:.0f} noenhanced font 'sans,11' background '#ffffff'\n"
                 "set clip one\nset grid xtics ytics linetype 1 linecolor rgb "
                 "'#dddddd' linewidth 0.5\n",
                 width, whole);
  for (std::size_t i = 0; i < most_curves; ++i)
    fmt::format_to(
        into, "set linetype {} linecolor rgb '{}' dashtype {} pointtype {} pointsize 0.6 linewidth 1.2\n",
        i + 1, colours[i % colours.size()], dashes[i % dashes.size()], points[i % points.size()]);
  for (std::size_t i = 0; i < strips.size(); ++i) write_data(into, strips[i], i);
  fmt::format_to(into, "set multiplot\n");
  double top = 4;
  int labels = 0;
  const auto label = [&](const std::string& text, double x, double y, int size) {
    fmt::format_to(into, "set label {} {} at screen {:.6f},{:.6f} left font 'sans,{}'\n", ++labels,
                   gnuplot_string(shortened(text)), x / width, 1 - y / whole, size);
  };
  for (const std::string& text : above) label(text, 12, (top += line_height) - 4, 11);
  // gnuplot writes all labels with the first panel.
  double end = top;
  for (const strip& one : strips) {
    label(one.title, 12, end + 18, 14);
    end += height_of(one);
    if (!one.left_out.empty())
      label(fmt::format("not drawn, since it is not above zero: {}", fmt::join(one.left_out, "; ")), 12,
            end - 8, 10);
  }
  for (std::size_t i = 0; i < strips.size(); ++i) {
    const strip& one = strips[i];
    const page here{top + title_height, whole};
    if (!one.curves.empty())
      write_panel(into, one, i,
                  {true, one.with_barrier ? "us of a call and its barrier" : "us of a call", first_panel},
                  here);
    if (!one.curves.empty()) fmt::format_to(into, "unset label\n");
    if (!one.curves.empty() && one.sized)
      write_panel(into, one, i, {false, "MB/s (size / time)", second_panel}, here);
    top += height_of(one);
  }
  fmt::format_to(into, "unset multiplot\n");
  return out;
}

std::string svg_of(const std::vector<std::string>& above, const std::vector<strip>& strips) {
  // gnuplot draws the bars and the line of each curve of each panel, with meaningless names.
  std::vector<std::string> names{"Time and bandwidth of collectives"};
  for (const strip& one : strips) {
    for (int panel = 0; panel < (one.sized ? 2 : 1); ++panel) {
      for (const curve& c : one.curves) names.insert(names.end(), 2, c.name);
    }
  }
  const std::string drawn = run_gnuplot(plot_commands(above, strips));
  constexpr std::string_view begin = "<title>";
  std::string out;
  std::size_t from = 0;
  for (const std::string& name : names) {
    const auto at = drawn.find(begin, from);
    const auto end = at == std::string::npos ? at : drawn.find("</title>", at);
    if (end == std::string::npos) break;
    out.append(drawn, from, at + begin.size() - from);
    out += escaped(name);
    from = end;
  }
  return out + drawn.substr(from);
}

std::string plot_svg(const std::vector<named_result>& all) {
  const auto strips = strips_of(all);
  if (std::all_of(strips.begin(), strips.end(), [](const strip& one) { return one.curves.empty(); }))
    throw std::runtime_error("cannot draw: no row has a time above zero");
  std::vector<std::string> above;
  for (const named_result& one : all) above.push_back(line_about(one));
  above.push_back(
      fmt::format("Points: medians; bars: {}. Size: bytes of the message, or of the block of one rank.",
                  bars_of(all).value_or("from the 10th to the 90th percentile of the samples")));
  return svg_of(above, strips);
}

}  // namespace bench
