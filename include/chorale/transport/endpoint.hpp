// What every transport has: a device, a way to reach all ranks by datagram, and waiting that never hangs.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <chorale/bootstrap/concept.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/frame_arena.hpp>
#include <chorale/core/lean_chrono.hpp>
#include <chorale/core/lean_functional.hpp>
#include <chorale/core/stall_report.hpp>
#include <chorale/transport/control_channel.hpp>
#include <chorale/transport/dependents.hpp>
#include <chorale/transport/endpoint_user.hpp>
#include <chorale/transport/entry.hpp>
#include <chorale/transport/group_view.hpp>
#include <chorale/transport/joining.hpp>
#include <chorale/transport/liveness.hpp>
#include <chorale/transport/mailbox.hpp>
#include <chorale/transport/multicasts.hpp>
#include <chorale/transport/parked_call.hpp>
#include <chorale/transport/status.hpp>
#include <chorale/transport/vigil.hpp>
#include <chorale/transport/waiting.hpp>

namespace chorale::transport {

class endpoint;
class stall_survey;
namespace reliable {
class streams;
}

/// What every transport has. A rank's endpoint exchanges cards with all others through the bootstrap when it
/// is made (collective), and then talks to them by datagrams for everything rare: making connections, asking
/// who is in which call, telling of failures. One thread at a time.
class endpoint {
 public:
  /// `user`: the transport that owns it.
  endpoint(endpoint_user& user, joined_group&& group);
  ~endpoint();
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] frame_arena& frames() noexcept { return frames_; }
  [[nodiscard]] const config& settings() const noexcept { return settings_; }
  /// Messages of one sender that one receiver may have until it gives one back.
  [[nodiscard]] std::size_t blocks() const noexcept { return settings_.blocks; }
  /// The device ports of this rank. The first one is that of datagrams, and what is said below.
  [[nodiscard]] const std::vector<device_port>& ports() const noexcept { return ports_; }
  [[nodiscard]] const verbs::choice& chosen() const noexcept { return ports_.front().chosen(); }
  [[nodiscard]] const verbs::device& device() const noexcept { return ports_.front().device(); }
  [[nodiscard]] const verbs::protection_domain& domain() const noexcept { return ports_.front().domain(); }
  [[nodiscard]] const std::shared_ptr<const opened_device>& opened() const noexcept {
    return ports_.front().opened();
  }
  /// Who has to let go of this transport when it ends.
  [[nodiscard]] dependents& dependent_objects() noexcept { return dependents_; }
  /// True if ranks outnumber the cores of some host, so that waiting must yield.
  [[nodiscard]] bool oversubscribed() const noexcept;
  /// What errors call this communicator; empty without a name.
  void set_label(std::string label) { label_ = std::move(label); }
  [[nodiscard]] const std::string& label() const noexcept { return label_; }
  /// How the group came to be, e.g. "singleton: ...".
  [[nodiscard]] const std::string& launched() const noexcept;
  /// A number that all ranks of this group have, and nobody else can guess.
  [[nodiscard]] std::uint64_t job() const noexcept;

  /// Datagrams among the ranks, and the service thread.
  [[nodiscard]] control_channel& channel() noexcept { return channel_; }
  [[nodiscard]] const control_channel& channel() const noexcept { return channel_; }
  /// Who is alive, as far as this rank knows.
  [[nodiscard]] liveness& lives() noexcept { return lives_; }
  [[nodiscard]] const liveness& lives() const noexcept { return lives_; }

  /// Datagrams that came and were not of this group, or not as a rank of it would write them: they were
  /// thrown away.
  [[nodiscard]] std::uint64_t refused_datagrams() const noexcept { return channel_.refused(); }
  /// Which thread is inside: to be asked where a call of the user begins.
  [[nodiscard]] occupancy& use() noexcept { return use_; }

  /// Begins a call on this rank. @throws error errc::poisoned if an earlier one failed.
  epoch begin(const call& c) {
    if (failure_) [[unlikely]]
      throw_poisoned();
    status_.begin(++number_, c);
    return {number_, c.signature(), c.what};
  }
  void complete(epoch now) noexcept { status_.complete(now.number); }
  /// Poisons the communicator for the reason `why` and tells all ranks; later calls throw errc::poisoned.
  /// Lets go of all memory of the user: when it has returned, neither this rank nor a peer touches any
  /// through this communicator. The coroutines of the failed call are gone by then, or suspended for good.
  void fail(const std::exception_ptr& why) noexcept;
  /// Tells all ranks that the communicator was destroyed from inside a call of its own.
  void abandon() noexcept;
  /// The failure of a call of this communicator, with its name if it has one.
  [[nodiscard]] std::exception_ptr labelled(const std::exception_ptr& why) const noexcept;

  /// To be asked when the algorithm of a call has come to its end. @throws what an await of it failed with
  /// although it went on; error errc::misuse if something was made and never awaited: a `co_await` is
  /// missing.
  void require_whole() const {
    if (frames_.has_forgotten()) [[unlikely]]
      throw_unfinished();
  }
  /// How errors name the algorithm of an operation; empty without names.
  void name_algorithms(std::string (*of)(operation)) noexcept { algorithm_names_ = of; }
  [[nodiscard]] std::string algorithm_of(operation what) const;
  /// The part of `fail` that concerns memory, for where an await of a call has failed by `why`; null if what
  /// fails is something else.
  void let_go(std::exception_ptr why) noexcept;
  [[nodiscard]] const std::exception_ptr& ended_by() const noexcept { return ended_by_; }
  [[nodiscard]] bool is_poisoned() const noexcept { return failure_.has_value(); }
  [[nodiscard]] std::exception_ptr poison() const noexcept;  ///< that later calls throw, if is_poisoned()

  /// @throws error errc::poisoned if an earlier call failed.
  void require_sound() const {
    if (failure_) [[unlikely]]
      throw_poisoned();
  }
  /// The call that this rank is in, or was in last: for what goes on beside the calls.
  [[nodiscard]] epoch current() const noexcept;
  /// The rare half of a wait that concerns no single peer: what came by datagram, failures that others
  /// report, other calls of this thread. @throws error if a failure was reported or a peer is lost.
  void look_around();

  /// Blocking calls wait inside an await; nonblocking ones park there.
  void set_blocking(bool blocking) noexcept { blocking_ = blocking; }
  [[nodiscard]] bool blocking() const noexcept { return blocking_; }
  /// Calls are driven from where so many exceptions are in flight, which are none of theirs.
  void note_exceptions_outside(int count) noexcept { exceptions_outside_ = count; }
  /// How many that are for what was made in a call when `then` were in flight.
  [[nodiscard]] int exceptions_outside(int then) const noexcept {
    return blocking_ ? then : exceptions_outside_;
  }

  /// Waits for `peer`, or any if that is negative, until `ready()`, which may act. @throws error as
  /// `vigil::look`, and what `ready` throws.
  template <class Ready>
  void wait(int peer, epoch now, Ready&& ready) {
    backoff pace{spin_};
    vigil watch{*this, peer, now};
    while (!ready()) {
      if (pace()) pace.elapsed(watch.look());
    }
    watch.end();
  }

  /// A nonblocking call stands still here.
  void park(std::coroutine_handle<> frame, int peer, epoch now, bool (*ready)(void*), void* awaiter) {
    parked_ = {frame, ready, awaiter, vigil{*this, peer, now}, nullptr};
  }
  [[nodiscard]] bool is_parked() const noexcept { return static_cast<bool>(parked_.frame); }
  void forget_parked() noexcept { parked_ = {}; }
  [[nodiscard]] backoff pace() const noexcept { return backoff{spin_}; }
  /// Lets the parked call go on as far as it gets; one that `waits` waits for what it is parked at, once.
  /// A failure is raised inside the coroutine.
  void advance(attention how);
  void rethrow_parked_failure() {
    if (parked_.failure) [[unlikely]]
      std::rethrow_exception(std::exchange(parked_.failure, nullptr));
  }

  /// What an algorithm keeps from call to call of this communicator: one default-constructed `State` for each
  /// type, made when it is first asked for.
  template <class State>
  [[nodiscard]] State& state() {
    const std::size_t index = state_index<State>();
    if (index >= states_.size()) states_.resize(index + 1);
    auto& place = states_[index];
    if (!place) place = std::make_shared<State>();
    return *static_cast<State*>(place.get());
  }

  /// Reads what came by datagram: connection requests, questions, failures of others.
  void progress();

  [[nodiscard]] multicasts& multicast() noexcept { return multicasts_; }
  [[nodiscard]] const multicasts& multicast() const noexcept { return multicasts_; }

  // For the parts of a transport.

  /// A number that changes with whatever inline code and the library must agree on, so that a program which
  /// was compiled with other headers is refused, and does not wait for messages in the wrong place.
  static constexpr std::uint64_t binary_interface() noexcept {
    constexpr mailbox_layout probe{8192, 16};
    return sizeof(endpoint) | sizeof(status_page) << 16 | probe.block_end(1) << 32 | sizeof(config) << 48;
  }
  template <bootstrap::group G>
  static group_view view_of(G& group, const config& c) {
    return checked(group_view::of(group, c, binary_interface()));
  }

  /// A datagram that is not as its sender should have written it.
  void refuse_datagram() noexcept { channel_.refuse(); }
  [[nodiscard]] bool is_withdrawn() const noexcept { return withdrawn_; }
  /// True if a call has failed here, or a peer has reported a failure.
  [[nodiscard]] bool has_failed() const noexcept { return failure_ || notice_; }

  /// As control_channel has it.
  bool send_datagram(int to, std::uint16_t kind, std::span<const std::byte> body,
                     std::span<const std::byte> more = {}, bool solicited = false) {
    return channel_.send(to, kind, body, more, solicited);
  }
  /// A datagram that asks `peer` what call `now` is to it; the answer is judged while this rank waits for it,
  /// and is a sign of life.
  void ask(int peer, epoch now);
  /// Judges what `peer` answered. @throws error errc::mismatch if its call of number `now` is another.
  void judge(int peer, const status_answer& theirs, epoch now);
  /// To be called where a message, of call `seen` as far as 32 bits tell, does not seem to belong to call
  /// `now`. Asks the peer, and returns if its call of that number is the same one: then what was seen is not
  /// all there yet, and is to be looked at again.
  /// @throws error errc::mismatch naming both calls as far as they are known.
  void mismatch(int peer, epoch now, std::uint32_t seen);
  void mismatch(int peer, epoch now) { mismatch(peer, now, static_cast<std::uint32_t>(now.number)); }
  /// @throws error errc::peer_lost.
  [[noreturn]] void lost(int peer, const std::string& why);
  /// Tells the others that this rank leaves. Called by the destructor of the transport when its queues are
  /// empty.
  void say_goodbye() noexcept;

  // As liveness has it.
  [[nodiscard]] bool departed(int peer) const noexcept { return lives_.is_gone(peer); }
  void note_departure(int peer) noexcept { lives_.leave(peer); }
  void note_life(int peer) noexcept { lives_.hear(peer); }
  steady::duration attend() { return lives_.attend(); }
  void expect_answer(int peer) { lives_.expect_answer(peer); }
  [[nodiscard]] bool is_lost(int peer) noexcept { return lives_.is_lost(peer); }
  void look_at_processes() { lives_.look_at_processes(); }
  void look_at_process(int peer) { lives_.look_at_process(peer); }
  /// Number of the datagram queue pair.
  [[nodiscard]] std::uint32_t queue_pair_number() const noexcept { return channel_.port().number(); }
  [[nodiscard]] const verbs::local_port& local_port() const noexcept { return ports_.front().local(); }
  /// Registered bytes for datagrams, those of the multicast group among them.
  [[nodiscard]] std::size_t datagram_bytes() const noexcept {
    return channel_.port().memory_bytes() + multicasts_.memory_bytes();
  }
  // As control_channel has it.
  [[nodiscard]] std::size_t datagram_room() const noexcept { return channel_.room(); }
  void read_datagrams() { channel_.read(); }
  void start_service();
  void stop_service() noexcept { channel_.stop_service(); }
  [[nodiscard]] service_lock& lock() noexcept { return channel_.lock(); }
  /// From now on datagrams of streams go to `streams`, on whichever thread they are read.
  void serve_streams(reliable::streams& streams);

 private:
  friend class vigil;

  [[noreturn]] void throw_poisoned() const;
  [[noreturn]] void throw_unfinished() const;
  /// Calls run one after the other: the first that is not over, as errors name it.
  [[nodiscard]] std::string call_under_way() const;
  void note_failure(const std::exception_ptr& why) noexcept;
  void tell_failure() noexcept;
  void keep_notice() noexcept;
  [[noreturn]] void report_deadline(int peer, epoch now);
  void begin_survey();
  void ask_surveyed(steady::time_point time, epoch now);
  void get_on_with_survey(int peer, epoch now, steady::duration since);
  stall_report describe_stall(const std::vector<std::optional<status_answer>>& answers, int peer, epoch now,
                              steady::duration since);
  static std::string describe_ranks(std::vector<stall_report::rank_state> ranks);
  void check();
  [[noreturn]] void left(int peer, epoch now);
  void take_goodbye(int from, std::span<const std::byte> body);
  void compare_farewells(const farewell& mine);
  static group_view checked(group_view group);
  [[nodiscard]] error set_up_failure(std::error_code code, const std::string& why) const {
    return transport::set_up_failure(rank_, size_, code, why);
  }
  void subscribe();
  /// Whoever has left by the word of its connection alone may still listen for farewells.
  [[nodiscard]] bool listens(int peer) const { return !lives_.is_dead(peer) && !farewells_.contains(peer); }
  void take_answer(int from, std::span<const std::byte> body);
  void answer(int from, std::span<const std::byte> question);
  void take_notice(int from, std::span<const std::byte> body);
  static std::size_t next_state_index() noexcept;
  template <class State>
  static std::size_t state_index() noexcept {
    static const std::size_t index = next_state_index();
    return index;
  }

  endpoint_user* user_;
  int rank_;
  int size_;
  config settings_;
  std::string label_;
  bool spin_;
  bool blocking_ = true;
  int exceptions_outside_ = 0;
  occupancy use_;
  frame_arena frames_;
  std::vector<device_port> ports_;
  std::unique_ptr<membership> members_;
  control_channel channel_;
  liveness lives_;
  std::vector<control_channel::subscription> subscriptions_;
  status_page status_;
  std::uint64_t number_ = 0;
  std::optional<error> failure_;
  bool withdrawn_ = false;
  std::exception_ptr ended_by_;
  std::string (*algorithm_names_)(operation) = nullptr;
  std::optional<error> notice_;
  std::vector<std::byte> failure_told_;  ///< the notice of it, for those who have missed it
  std::vector<std::optional<status_answer>> answers_;
  doubts doubts_;
  std::map<int, farewell> farewells_;  ///< of ranks that have left
  std::unique_ptr<stall_survey> survey_;
  parked_call parked_;
  std::vector<std::shared_ptr<void>> states_;
  multicasts multicasts_;
  bool has_left_ = false;  ///< this rank has said so
  dependents dependents_;
};

}  // namespace chorale::transport
