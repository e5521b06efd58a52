// Every setting, once: its variable, what it accepts, its default and its meaning.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/core/config.hpp>

namespace chorale {

/// A setting. One that is read elsewhere, not from a `config`, has no `field` and no functions.
struct setting {
  std::string variable;  ///< "CHORALE_PORT"
  std::string field;     ///< of `config`
  std::string accepts;   ///< in words
  std::string initially;
  std::string meaning;

  /// Sets the field as the variable's text says; false if the text is not accepted.
  std::function<bool(config&, std::string_view)> set;
  /// Whether the field has a value that is accepted.
  std::function<bool(const config&)> good;
  /// The field's value, as the variable would have it.
  std::function<std::string(const config&)> show;
};

/// All of them, in the order of docs/settings.md.
const std::vector<setting>& settings();

}  // namespace chorale
