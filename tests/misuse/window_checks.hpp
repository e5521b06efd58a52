// What the tests of windows share.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <chorale/window.hpp>

#include "harness.hpp"

namespace misuse::windows {

using number = std::uint64_t;

inline constexpr number untouched = 0xfeedfacecafebeef;

[[noreturn]] inline void complain(const std::string& what) {
  throw std::runtime_error(what);
}
inline void expect(bool right, const std::string& what) {
  if (!right) complain(what);
}
/// What `action` throws must be an error of `code` whose text has all of `words`.
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
inline void check_all_right(const misuse::outcomes& all) {
  INFO(misuse::describe(all));
  for (const auto& one : all) {
    CHECK(!one.failed());
    CHECK(!one.later);
  }
}

}  // namespace misuse::windows
