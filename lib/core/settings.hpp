// SPDX-License-Identifier: Apache-2.0
// Every setting, defined once: its variable, accepted values, default and meaning.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/core/config.hpp>

namespace chorale {

/// A setting. If it is not part of `config`, it has no `field` and no functions.
struct setting {
  std::string variable;  ///< "CHORALE_PORT"
  std::string field;     ///< of `config`
  std::string accepts;   ///< in words
  std::string initially;
  std::string meaning;

  /// Sets the field from the variable's text; false if the text is not accepted.
  std::function<bool(config&, std::string_view)> set;
  /// Whether the field's value is valid.
  std::function<bool(const config&)> good;
  /// The field's value in the format of the variable.
  std::function<std::string(const config&)> show;
};

/// All settings, in the order of docs/settings.md.
const std::vector<setting>& settings();

}  // namespace chorale
