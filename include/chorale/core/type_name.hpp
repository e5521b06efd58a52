// SPDX-License-Identifier: Apache-2.0
// The name of a type as a program writes it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace chorale {

namespace detail {
template <class Type>
constexpr std::string_view written_name() noexcept {
  std::string_view text = __PRETTY_FUNCTION__;
  const std::string_view before = "Type = ";
  text.remove_prefix(text.find(before) + before.size());
  text = text.substr(0, text.find(';'));
  if (text.ends_with(']')) text.remove_suffix(1);
  return text;
}

/// Length of the leading namespaces and classes, including the last `::`, in the name at the start of `text`:
/// 10 of "mine::in::ring<9>", 0 of "ring".
inline std::size_t scopes_before(std::string_view text) noexcept {
  const std::size_t last = text.substr(0, text.find_first_of("<,>&* ")).rfind("::");
  return last == std::string_view::npos ? 0 : last + 2;
}

/// Whether the first word of `text` is a built-in type or value, which has no namespace.
inline bool is_of_the_language(std::string_view text) noexcept {
  const auto word = text.substr(0, text.find_first_of("<,>&* "));
  for (const std::string_view known : {"bool", "char", "const", "double", "false", "float", "int", "long",
                                       "short", "signed", "true", "unsigned", "void"}) {
    if (word == known) return true;
  }
  return word.empty() || word.front() == '(' || word.front() == '-' ||
         (word.front() >= '0' && word.front() <= '9');
}

inline void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), by);
}

/// Removes the library's namespaces; other names stay, with "::" added to those that have no namespace.
inline std::string short_name(std::string_view text) {
  std::string written{text};
  // Compilers differ here, but tables are shared between programs of both.
  replace_all(written, "(anonymous namespace)", "{anonymous}");
  replace_all(written, "> >", ">>");
  const std::string_view all = written;
  std::string name;
  bool begins = true;  // a name begins here
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (begins) {
      const std::size_t scopes = scopes_before(all.substr(at));
      if (all.substr(at).starts_with("chorale::"))
        at += scopes;
      else if (scopes == 0 && all[at] != ' ' && !is_of_the_language(all.substr(at)))
        name += "::";
    }
    name.push_back(all[at]);
    begins = all[at] == '<' || all[at] == ',' || all[at] == '(' || (begins && all[at] == ' ');
  }
  return name;
}
}  // namespace detail

/// The name of a policy. Those of the library are shown without their namespaces: "degree_k<3>",
/// "degree_k<15, flat>". Others keep theirs: "mine::ring", or "::ring" without a namespace, so that names in
/// a table are unique.
template <class Type>
std::string type_name() {
  return detail::short_name(detail::written_name<Type>());
}

}  // namespace chorale
