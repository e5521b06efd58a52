// SPDX-License-Identifier: Apache-2.0
// The calls of a rank: their numbers, their identity, and how errors name them.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/model/last_choice.hpp>
#include <chorale/transport/status/status.hpp>

namespace chorale::transport {

class membership;
class observed_calls;
class published_status;

/// Numbers the calls of one communicator on one rank. One thread at a time; the data that peers and
/// chorale-status may read is in the status page.
class call_record {
 public:
  explicit call_record(const membership& group);
  call_record(const call_record&) = delete;
  call_record& operator=(const call_record&) = delete;
  /// Tells observers that the communicator has ended.
  ~call_record();

  /// Begins a call. All ranks count alike, so that a number identifies the same call on each.
  [[gnu::always_inline]] call_id begin(const call& c) noexcept { return begin(c, c.signature()); }
  /// The same for a call whose signature is known.
  [[gnu::always_inline]] call_id begin(const call& c, std::uint32_t signature) noexcept {
    page_->begin(++number_, c);
    return {number_, signature, c.what};
  }
  void complete(call_id now) noexcept { page_->complete(now.number); }
  /// The current or last call of this rank: for work that runs alongside the calls.
  [[nodiscard]] call_id current() const noexcept;
  /// The same as an access to a window, during which peers may be in any call.
  [[nodiscard]] call_id window_access() const noexcept {
    call_id same = current();
    same.what = operation::window;
    return same;
  }

  /// The data that peers may query.
  [[nodiscard]] status_page& page() noexcept { return *page_; }
  [[nodiscard]] const status_page& page() const noexcept { return *page_; }
  /// Records that the calling thread waits in call `now`; see `status_page::note_wait`.
  void note_wait(call_id now, int peer, clock::time_point since, clock::time_point until) noexcept;
  /// Records when this rank was first seen outside all calls since its last one, for chorale-status. On the
  /// service thread.
  void note_absence() noexcept;
  /// Records that the communicator has failed: none of its calls continues.
  void note_failure(std::string_view why) noexcept;

  /// Whether a call needs the slow path: others are pending, or there are observers.
  [[nodiscard]] bool is_busy() const noexcept { return busy_ != 0; }
  [[nodiscard]] bool is_observed() const noexcept { return (busy_ & observed_bit) != 0; }
  /// Whether a call is in progress whose waits and end are reported to observers.
  [[nodiscard]] bool has_observed_call() const noexcept { return (busy_ & call_bit) != 0; }
  void set_pending(bool pending) noexcept { set(pending_bit, pending); }
  void set_observed(bool observed) noexcept { set(observed_bit, observed); }
  void set_observed_call(bool observed) noexcept { set(call_bit, observed); }
  /// Number of the next call.
  [[nodiscard]] std::uint64_t next() const noexcept { return number_ + 1; }
  /// The observers. Precondition: `give` was called.
  [[nodiscard]] observed_calls& observed() const noexcept { return *observed_; }
  /// Takes ownership of `observed`.
  void give(observed_calls* observed) noexcept;
  /// Calls `observed_calls::ask`, if there are observers.
  void ask(operation what, const void* choice, model::last_choice (*last)(const void*)) noexcept;
  /// Tells observers, if any, which algorithm was chosen.
  void tell_choice(std::string_view text) noexcept;

  // Names in errors.
  /// The name of this communicator in errors; empty for none.
  void set_label(std::string label);
  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  /// Sets how errors name the algorithm of an operation; `algorithm_of` is empty otherwise.
  void name_algorithms(std::string (*of)(operation)) noexcept { algorithm_names_ = of; }
  [[nodiscard]] std::string algorithm_of(operation what) const;
  /// Call `number` in words; "a call" if it is no longer known.
  [[nodiscard]] std::string describe(std::uint64_t number) const;
  /// Number of the first incomplete call: calls run one after another.
  [[nodiscard]] std::uint64_t under_way() const noexcept { return page_->completed() + 1; }
  /// Adds the communicator's name, if it has one, to the failure of a call.
  [[nodiscard]] std::exception_ptr labelled(const std::exception_ptr& why) const noexcept;

 private:
  static constexpr std::uint8_t pending_bit = 1;
  static constexpr std::uint8_t observed_bit = 2;
  static constexpr std::uint8_t call_bit = 4;
  void set(std::uint8_t bit, bool on) noexcept {
    busy_ = static_cast<std::uint8_t>(on ? busy_ | bit : busy_ & ~bit);
  }

  /// Owned: a smart pointer would slow down the compilation of every program.
  published_status* published_;
  status_page* page_;  ///< of `published_`
  std::uint64_t number_ = 0;
  std::string label_;
  std::string (*algorithm_names_)(operation) = nullptr;
  std::uint8_t busy_ = 0;
  observed_calls* observed_ = nullptr;  ///< owned, as `published_`
};

}  // namespace chorale::transport
