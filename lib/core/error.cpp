// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include <fmt/format.h>

#include <chorale/core/error.hpp>

#include "immortal.hpp"
#include "sent_code.hpp"

namespace chorale {
namespace {

/// Null if there is no such code.
const char* text_of(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument:
      return "invalid argument";
    case errc::invalid_environment:
      return "unusable environment variable";
    case errc::no_device:
      return "no such RDMA device";
    case errc::no_launcher:
      return "not started by a PMIx launcher";
    case errc::bootstrap_failed:
      return "exchange before joining failed";
    case errc::verbs_failed:
      return "verbs call failed";
    case errc::completion_failed:
      return "work request failed";
    case errc::mismatch:
      return "calls do not match across ranks";
    case errc::peer_lost:
      return "peer lost";
    case errc::deadline:
      return "deadline passed";
    case errc::poisoned:
      return "communicator failed earlier";
    case errc::unsupported:
      return "not supported";
    case errc::misuse:
      return "wrong use of a communicator";
  }
  return nullptr;
}

class chorale_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "chorale"; }
  [[nodiscard]] std::string message(int value) const override {
    const char* const text = text_of(static_cast<errc>(value));
    return text != nullptr ? text : "unknown error";
  }
};

// Whether all parts of the process have the same layouts of the standard library's classes as the library.
constinit std::atomic<bool> same_layouts{true};

}  // namespace

bool detail::announce_layouts(std::uint64_t of_program) noexcept {
  constexpr std::uint64_t own =
      standard_layouts();  // constant: at run time a program's function of this name may be called
  if (of_program != own) same_layouts.store(false, std::memory_order_relaxed);
  return true;
}

void detail::require_same_layouts() {
  if (!same_layouts.load(std::memory_order_relaxed)) [[unlikely]]
    throw_foreign_headers();
}

void detail::throw_foreign_headers() {
  throw std::system_error(
      make_error_code(errc::unsupported),
      "this program was compiled with headers that do not belong to the libchorale it runs with, or "
      "with other containers of the standard library (-D_GLIBCXX_DEBUG); rebuild it as the library was "
      "built, or look which library the loader finds (ldd)");
}

const std::error_category& category() noexcept {
  static detail::immortal<chorale_category> instance;
  return *instance;
}

int code_to_send(const std::error_code& code) noexcept {
  return code.category() == category() ? code.value() : static_cast<int>(errc::verbs_failed);
}

errc code_received(int sent) noexcept {
  const auto code = static_cast<errc>(sent);
  return text_of(code) != nullptr ? code : errc::poisoned;
}

std::string reason_of(const std::system_error& e) {
  std::string text = e.what();
  const std::string ending = ": " + e.code().message();
  if (text.ends_with(ending)) text.resize(text.size() - ending.size());
  return text;
}

void throw_errno(int errnum, std::string_view call, std::string_view object, std::string_view remedy) {
  std::string what = fmt::format("{} on {}", call, object);
  if (!remedy.empty()) what += fmt::format(" ({})", remedy);
  throw error(std::error_code(errnum, std::generic_category()), what);
}

}  // namespace chorale
