// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/transport/observers/call_record.hpp>
#include <chorale/transport/observers/observed_calls.hpp>

#include "../status/published_status.hpp"

namespace chorale::transport {

call_record::call_record(const membership& group)
    : published_(new published_status(group)), page_(&published_->page()) {}

call_record::~call_record() {
  delete observed_;
  delete published_;
}

void call_record::note_wait(call_id now, int peer, clock::time_point since,
                            clock::time_point until) noexcept {
  published_->note_wait(now.number, peer, since, until);
}

void call_record::note_absence() noexcept {
  published_->note_absence();
}

void call_record::note_failure(std::string_view why) noexcept {
  published_->note_failure(why);
}

void call_record::set_label(std::string label) {
  label_ = std::move(label);
  published_->set_label(label_);
  if (observed_ != nullptr) observed_->rename(label_);
}

void call_record::give(observed_calls* observed) noexcept {
  delete std::exchange(observed_, observed);
}

void call_record::ask(operation what, const void* choice, model::last_choice (*last)(const void*)) noexcept {
  if (observed_ != nullptr) observed_->ask(what, choice, last);
}

void call_record::tell_choice(std::string_view text) noexcept {
  if (is_observed()) observed_->tell({.what = observed_event::kind::chosen, .text = text});
}

call_id call_record::current() const noexcept {
  const auto c = page_->find(number_);
  return {number_, c ? c->signature() : 0, c ? c->what : operation::none};
}

std::string call_record::algorithm_of(operation what) const {
  return algorithm_names_ == nullptr ? std::string{} : algorithm_names_(what);
}

std::string call_record::describe(std::uint64_t number) const {
  const auto known = page_->find(number);
  return known ? known->describe() : "a call";
}

std::exception_ptr call_record::labelled(const std::exception_ptr& why) const noexcept {
  if (label_.empty()) return why;
  try {
    std::rethrow_exception(why);
  } catch (const error& e) {
    try {
      return std::make_exception_ptr(
          error(e.code(), fmt::format("communicator '{}': {}", label_, e.reason()), e.ranks()));
    } catch (...) {
      return why;
    }
  } catch (...) {
    // Exceptions that are not Chorale's are passed on unchanged.
    return why;
  }
}

}  // namespace chorale::transport
