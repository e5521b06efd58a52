#include "timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../bench/replaced_file.hpp"
#include "deliveries.hpp"

namespace seeing {
namespace {

using sim::activity;
using sim::instant;
using sim::record;

// Pixels.
constexpr double left = 80;
constexpr double right = 30;
constexpr double width = 1200;
constexpr double top = 96;
constexpr double row = 24;
constexpr double bar = 14;
constexpr double helpers_bar = 4;
constexpr double bottom = 56;
/// Minimal width of a shape, so that short ones stay visible.
constexpr double least_width = 0.1;

/// A colour and its meaning.
struct paint {
  const char* colour;
  const char* words;
};
enum look : std::size_t { posting, copying, combining, taking, library, computing, waiting };
// Colours that the colour-blind can tell apart (Okabe and Ito).
constexpr std::array<paint, 7> paints{{{"#e69f00", "posting"},
                                       {"#009e73", "copying"},
                                       {"#cc79a7", "combining operands"},
                                       {"#56b4e9", "taking what was received"},
                                       {"#666666", "library: calls, registration"},
                                       {"#f0e442", "computing"},
                                       {"#e4e4e4", "waiting"}}};
constexpr const char* wire_colour = "#0072b2";

look look_of(activity what) {
  switch (what) {
    case activity::post:
    case activity::send:
      return posting;
    case activity::copy:
      return copying;
    case activity::combine:
      return combining;
    case activity::receive:
    case activity::match:
    case activity::post_receive:
    case activity::poll:
      return taking;
    case activity::compute:
      return computing;
    case activity::wait:
    case activity::wait_for_message:
    case activity::wait_for_answer:
      return waiting;
    default:
      return library;
  }
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

/// 1, 2 or 5 times a power of ten, for about ten ticks.
double tick_for(double length) {
  const double rough = length / 10;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escaped(text));
}

class picture {
 public:
  picture(const sim::window& of, int ranks) : window_(of), ranks_(ranks) {}

  void draw_axes(const std::string& title) {
    const double height = bottom_of_rows() + bottom;
    head_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        left + width + right, height);
    head_ += fmt::format("<text x=\"{:.1f}\" y=\"22\" font-size=\"15\">{}</text>\n", left, escaped(title));
    draw_legend();
    const double length = us(window_.end - window_.begin);
    const double tick = tick_for(length);
    const int digits = std::max(0, -static_cast<int>(std::floor(std::log10(tick))));
    for (int i = 0; i * tick <= length * (1 + 1e-9); ++i) {
      const double x = left + width * i * tick / length;
      head_ += fmt::format(
          "<line x1=\"{0:.2f}\" y1=\"{1:.1f}\" x2=\"{0:.2f}\" y2=\"{2:.1f}\" stroke=\"#cccccc\"/>\n", x, top,
          bottom_of_rows() + 5);
      head_ += text_at(x, bottom_of_rows() + 20, "middle", fmt::format("{:.{}f}", i * tick, digits));
    }
    head_ += text_at(left + width / 2, bottom_of_rows() + 42, "middle",
                     fmt::format("virtual time since {:.3f} us, in us", us(window_.begin)));
    for (int rank = 0; rank < ranks_; ++rank)
      head_ += text_at(left - 8, middle_of(rank) + 4, "end", fmt::format("rank {}", rank));
  }

  void add_work(const record& one) {
    if (one.end <= window_.begin || one.begin >= window_.end || one.end == one.begin) return;
    const look as = look_of(one.what);
    auto& before = open_[{one.rank, one.thread}];
    if (before.of.end == one.begin && before.as == as) {
      before.of.end = one.end;
      return;
    }
    draw_bar({one.rank, one.thread}, before);
    before = {{one.begin, one.end}, as};
  }
  void finish_work() {
    for (const auto& [whose, last] : open_) draw_bar(whose, last);
  }
  void add_phase(const sim::phase_record& one) {
    if (one.thread != 0 || one.begin < window_.begin || one.begin > window_.end) return;
    count();
    marks_ +=
        fmt::format("<line x1=\"{0:.2f}\" y1=\"{1:.1f}\" x2=\"{0:.2f}\" y2=\"{2:.1f}\" stroke=\"black\"/>\n",
                    x_of(one.begin), middle_of(one.rank) - row / 2 + 1, middle_of(one.rank) + row / 2 - 1);
  }
  void add_message(const delivery& one) {
    count();
    lines_ += fmt::format(
        "<line x1=\"{:.2f}\" y1=\"{:.1f}\" x2=\"{:.2f}\" y2=\"{:.1f}\"{}><title>{}{} B, rank {} to {}, "
        "{:.3f} to {:.3f} us</title></line>\n",
        x_of(one.leaves), middle_of(one.from), x_of(one.arrives), middle_of(one.to),
        one.answer ? " stroke-dasharray=\"4 2\"" : "", one.answer ? "answer, " : "", one.bytes, one.from,
        one.to, us(one.leaves - window_.begin), us(one.arrives - window_.begin));
  }

  [[nodiscard]] std::string text() const {
    return head_ + bars_ + marks_ +
           fmt::format("<g stroke=\"{}\" stroke-opacity=\"0.7\">\n{}</g>\n</svg>\n", wire_colour, lines_);
  }

 private:
  struct stretch {
    sim::window of;
    look as = waiting;
  };

  [[nodiscard]] double bottom_of_rows() const { return top + row * ranks_; }
  [[nodiscard]] double middle_of(int rank) const { return top + row * rank + row / 2; }
  [[nodiscard]] double x_of(instant when) const {
    const instant inside = std::clamp(when, window_.begin, window_.end);
    return left + width * us(inside - window_.begin) / us(window_.end - window_.begin);
  }

  void draw_bar(const std::pair<int, int>& whose, const stretch& one) {
    if (one.of.end == one.of.begin) return;
    const bool helps = whose.second != 0;
    if (helps && one.as == waiting) return;
    count();
    const double x = x_of(one.of.begin);
    bars_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\">"
        "<title>{}{}, {:.3f} to {:.3f} us</title></rect>\n",
        x, helps ? middle_of(whose.first) + bar / 2 : middle_of(whose.first) - bar / 2,
        std::max(x_of(one.of.end) - x, least_width), helps ? helpers_bar : bar, paints[one.as].colour,
        helps ? "helper: " : "", paints[one.as].words, us(one.of.begin - window_.begin),
        us(one.of.end - window_.begin));
  }

  void draw_legend() {
    double x = left;
    for (const auto& one : paints) {
      head_ += fmt::format("<rect x=\"{:.1f}\" y=\"40\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x,
                           one.colour);
      head_ += text_at(x + 17, 50, "start", one.words);
      x += 40 + 7.0 * static_cast<double>(std::string{one.words}.size());
    }
    head_ += fmt::format("<line x1=\"{:.1f}\" y1=\"72\" x2=\"{:.1f}\" y2=\"64\" stroke=\"{}\"/>\n", left,
                         left + 24, wire_colour);
    head_ += text_at(left + 30, 72, "start",
                     "message on the wire, from first byte out to last byte in; dashed: data of an answer");
    head_ += fmt::format("<line x1=\"{0:.1f}\" y1=\"60\" x2=\"{0:.1f}\" y2=\"76\" stroke=\"black\"/>\n",
                         left + 560);
    head_ += text_at(left + 568, 72, "start", "a call or a sample begins; thin below a row: helpers");
  }

  void count() {
    if (++shapes_ > most_shapes)
      throw std::runtime_error(
          fmt::format("--timeline: there are more than {} things to draw between {:.3f} and {:.3f} "
                      "us; a shorter --window or fewer ranks have fewer",
                      most_shapes, us(window_.begin), us(window_.end)));
  }

  sim::window window_;
  int ranks_;
  std::map<std::pair<int, int>, stretch> open_;
  std::size_t shapes_ = 0;
  std::string head_;
  std::string bars_;
  std::string marks_;
  std::string lines_;
};

}  // namespace

void write_timeline(const std::string& file, const sim::recorder& notes, const sim::window& of, int ranks,
                    const std::string& title) {
  if (of.end <= of.begin) throw std::runtime_error(fmt::format("--timeline: {} took no time", title));
  picture all(of, ranks);
  const auto messages = find_deliveries(notes, of);
  all.draw_axes(title +
                (messages.over_the_edge == 0
                     ? ""
                     : fmt::format("; {} messages over the edge are not drawn", messages.over_the_edge)));
  for (const record& one : notes.records())
    if (!is_of_message(one.what)) all.add_work(one);
  all.finish_work();
  for (const auto& one : notes.phases()) all.add_phase(one);
  for (const auto& one : messages.all)
    if (!one.answer || one.bytes != 0) all.add_message(one);
  bench::replace_file(file, all.text());
}

}  // namespace seeing
