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
}  // namespace detail

/// The name of a policy without its namespaces: "degree_k<3>", "degree_k<15, flat>".
template <class Type>
std::string type_name() {
  std::string name;
  for (const char c : detail::written_name<Type>()) {
    name.push_back(c);
    if (!name.ends_with("::")) continue;
    const auto scope = name.find_last_of("<, ", name.size() - 3);
    name.erase(scope == std::string::npos ? 0 : scope + 1);
  }
  return name;
}

}  // namespace chorale
