// The calls of a rank: their numbers, what they are, and how errors name them.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/status.hpp>

namespace chorale::transport {

class membership;
class observed_calls;
class published_status;

/// Numbers the calls of one communicator on one rank. One thread at a time; what others may read of it, peers
/// and chorale-status, is in the status page.
class call_record {
 public:
  explicit call_record(const membership& group);
  call_record(const call_record&) = delete;
  call_record& operator=(const call_record&) = delete;
  /// Observers are told that the communicator has ended.
  ~call_record();

  /// A call begins. All ranks count alike, so that a number stands for the same call on each.
  [[gnu::always_inline]] call_id begin(const call& c) noexcept { return begin(c, c.signature()); }
  /// The same of a call whose signature is known.
  [[gnu::always_inline]] call_id begin(const call& c, std::uint32_t signature) noexcept {
    page_->begin(++number_, c);
    return {number_, signature, c.what};
  }
  void complete(call_id now) noexcept { page_->complete(now.number); }
  /// The call that this rank is in, or was in last: for what goes on beside the calls.
  [[nodiscard]] call_id current() const noexcept;

  /// What peers may ask for.
  [[nodiscard]] status_page& page() noexcept { return *page_; }
  [[nodiscard]] const status_page& page() const noexcept { return *page_; }
  /// The calling thread waits in call `now`; see `status_page::note_wait`.
  void note_wait(call_id now, int peer, clock::time_point since, clock::time_point until) noexcept;
  /// The communicator has failed: no call of it goes on.
  void note_failure(std::string_view why) noexcept;

  /// Whether a call has to do more than to run: others are pending, or somebody observes it.
  [[nodiscard]] bool is_busy() const noexcept { return busy_ != 0; }
  [[nodiscard]] bool is_observed() const noexcept { return (busy_ & observed_bit) != 0; }
  void set_pending(bool pending) noexcept { set(pending_bit, pending); }
  void set_observed(bool observed) noexcept { set(observed_bit, observed); }
  /// Number of the call that begins next.
  [[nodiscard]] std::uint64_t next() const noexcept { return number_ + 1; }
  /// Who observes. Precondition: they were given.
  [[nodiscard]] observed_calls& observed() const noexcept { return *observed_; }
  /// Takes `observed`, which it ends.
  void give(observed_calls* observed) noexcept;
  /// `observed_calls::ask`, if there is one.
  void ask(operation what, const void* choice, std::string_view (*name)(const void*)) noexcept;
  /// Tells observers of an algorithm that was chosen, if there are any.
  void tell_choice(std::string_view text) noexcept;

  // Names in errors.
  /// What errors call this communicator; empty without a name.
  void set_label(std::string label);
  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  /// How errors name the algorithm of an operation; empty without names.
  void name_algorithms(std::string (*of)(operation)) noexcept { algorithm_names_ = of; }
  [[nodiscard]] std::string algorithm_of(operation what) const;
  /// Call `number` in words; "a call" if it is not known any more.
  [[nodiscard]] std::string describe(std::uint64_t number) const;
  /// Number of the first call that is not over: calls run one after the other.
  [[nodiscard]] std::uint64_t under_way() const noexcept { return page_->completed() + 1; }
  /// The failure of a call of this communicator, with its name if it has one.
  [[nodiscard]] std::exception_ptr labelled(const std::exception_ptr& why) const noexcept;

 private:
  static constexpr std::uint8_t pending_bit = 1;
  static constexpr std::uint8_t observed_bit = 2;
  void set(std::uint8_t bit, bool on) noexcept {
    busy_ = static_cast<std::uint8_t>(on ? busy_ | bit : busy_ & ~bit);
  }

  published_status* published_;  ///< owned: another smart pointer would make all programs dearer to compile
  status_page* page_;            ///< of `published_`
  std::uint64_t number_ = 0;
  std::string label_;
  std::string (*algorithm_names_)(operation) = nullptr;
  std::uint8_t busy_ = 0;
  observed_calls* observed_ = nullptr;  ///< owned, as `published_`
};

}  // namespace chorale::transport
