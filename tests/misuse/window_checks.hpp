// Common parts of the tests of windows.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <chorale/window.hpp>

#include "harness.hpp"

namespace misuse::windows {

using misuse::check_all_right;
using misuse::expect;
using number = std::uint64_t;

inline constexpr number untouched = 0xfeedfacecafebeef;

[[noreturn]] inline void complain(const std::string& what) {
  throw std::runtime_error(what);
}
/// `action` must throw an error of `code` whose text contains all of `words`.
template <class Action>
void refused(chorale::errc code, const std::vector<std::string>& words, Action&& action) {
  try {
    action();
  } catch (const chorale::error& e) {
    const std::string text = e.what();
    expect(e.code() == code, "refused with another code: " + text);
    for (const std::string& word : words)
      expect(text.find(word) != std::string::npos, "'" + word + "' is missing in: " + text);
    return;
  }
  complain("not refused: " + (words.empty() ? std::string{} : words.front()));
}

}  // namespace misuse::windows
