#include "markup.hpp"

#include <algorithm>
#include <iterator>

namespace bench {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out;
}

std::string inlined(const std::string& svg, const std::string& prefix) {
  const std::string_view names[] = {"id=\"", "id='", "href='#", "href=\"#", "url(#"};
  std::string out;
  bool in_tag = false;
  for (std::size_t at = std::min(svg.find("<svg"), svg.size()); at < svg.size(); ++at) {
    out += svg[at];
    if (svg[at] == '<') in_tag = true;
    if (svg[at] == '>') in_tag = false;
    if (in_tag && std::any_of(std::begin(names), std::end(names),
                              [&](std::string_view name) { return std::string_view{out}.ends_with(name); }))
      out += prefix;
  }
  return out;
}

}  // namespace bench
