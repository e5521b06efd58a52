// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <pthread.h>
#include <utility>

#include <chorale/core/background.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/origin.hpp>

#include "progress_alarm.hpp"

namespace chorale {

/// Shared by an attendance and the list of the attending thread.
struct attendance_state {
  /// Exclusive right to call `answer` or change `by`. Not a mutex, since fibers of one thread may contend for
  /// it.
  class claim {
   public:
    explicit claim(attendance_state& of) noexcept : of_(of) {
      while (of_.busy.exchange(true, std::memory_order_acquire)) clock::give_way();
    }
    ~claim() { of_.busy.store(false, std::memory_order_release); }
    claim(const claim&) = delete;
    claim& operator=(const claim&) = delete;

   private:
    attendance_state& of_;
  };

  const std::function<void()> answer;
  const detail::origin made;  ///< a child of fork() does not answer for its parent
  std::atomic<bool> busy{false};
  std::atomic<const background::list*> by{nullptr};  ///< the list of the attending thread

  explicit attendance_state(std::function<void()> a) : answer(std::move(a)) {}
};

namespace {

// Initial-exec like the clock's, since every iteration of every wait reads it.
[[gnu::tls_model("initial-exec")]] constinit thread_local background::list* replacement = nullptr;
/// Caches the pointer to the thread's own list.
[[gnu::tls_model("initial-exec")]] constinit thread_local background::list* list_of_thread = nullptr;

// When a thread ends, remaining work is removed from its list. A thread-local variable's destructor could do
// that, but registering it allocates memory, and if there is none, the C library aborts. The first
// thread-specific keys of a process need no memory, so this key is created early.
[[gnu::tls_model("initial-exec")]] alignas(background::list) constinit thread_local std::byte
    room_of_list[sizeof(background::list)]{};
[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_watched = false;
/// Work can be enlisted at once: the end of the thread is watched, and there is no alarm to ring.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_prepared = false;
pthread_key_t end_of_thread;
bool is_end_watched = false;

void empty_list(void* list) noexcept {
  is_watched = is_prepared = false;
  static_cast<background::list*>(list)->~list();
  new (list) background::list;
}

/// Call before adding to the thread's list.
void await_end_of_thread(background::list& of) noexcept {
  if (!is_watched && replacement == nullptr && is_end_watched) [[unlikely]]
    is_watched = pthread_setspecific(end_of_thread, &of) == 0;
}

[[gnu::constructor]] void make_key() noexcept {
  is_end_watched = pthread_key_create(&end_of_thread, empty_list) == 0;
}

[[gnu::destructor]] void delete_key() noexcept {
  if (std::exchange(is_end_watched, false)) pthread_key_delete(end_of_thread);
}

}  // namespace

background::list::list() = default;

background::list::~list() {
  forget_attended();
  while (first_ != nullptr) {
    first_->place_ = nullptr;
    first_ = std::exchange(first_->next_, nullptr);
  }
}

void background::list::forget_attended() noexcept {
  for (const auto& one : std::exchange(attended_, {})) {
    const list* self = this;
    one->by.compare_exchange_strong(self, nullptr);
  }
}

background::list& background::mine() noexcept {
  if (replacement != nullptr) return *replacement;
  if (list_of_thread == nullptr) {
    list_of_thread = new (room_of_list) list;
    clock::stay_awake_for(&list_of_thread->driven_.outstanding);
  }
  return *list_of_thread;
}

void background::replace(list* by) noexcept {
  replacement = by;
  const list* const now = by != nullptr ? by : list_of_thread;
  clock::stay_awake_for(now == nullptr ? nullptr : &now->driven_.outstanding);
}

void background::enlist() noexcept {
  if (place_ != nullptr) return;
  list& all = mine();
  if (!is_prepared) [[unlikely]]
    all.prepare_for_work();
  next_ = all.first_;
  if (next_ != nullptr) next_->place_ = &next_;
  all.first_ = this;
  place_ = &all.first_;
}

void background::delist() noexcept {
  if (place_ == nullptr) return;
  if (list& all = mine(); all.next_ == this) all.next_ = next_;
  *place_ = next_;
  if (next_ != nullptr) next_->place_ = place_;
  next_ = nullptr;
  place_ = nullptr;
}

background::remainder background::advance_all(attention how) noexcept {
  list& all = mine();
  if (all.first_ == nullptr && all.attended_.empty()) return {};
  if (std::exchange(all.under_way_, true)) return {};
  remainder left;
  all.next_ = all.first_;
  while (all.next_ != nullptr) {
    background* now = all.next_;
    all.next_ = now->next_;
    const remainder here = now->advance(how);
    left.waited = std::min(left.waited, here.waited);
    left.may_need_core |= here.may_need_core;
  }
  if (!all.attended_.empty()) all.answer_for_attended();
  all.under_way_ = false;
  return left;
}

void background::list::prepare_for_work() noexcept {
  await_end_of_thread(*this);
  if (own_alarm() != nullptr) own_alarm()->ring_after({});
  is_prepared = is_watched && own_alarm() == nullptr;
}

progress_alarm& background::list::make_alarm() {
  if (own_alarm() == nullptr) {
    alarm_ = detail::process_bound_ptr<progress_alarm>{new progress_alarm};
    is_prepared = false;
    await_end_of_thread(*this);
    alarm_->ring_after({});  // for calls that may be complete already
  }
  return *alarm_;
}

bool background::list::is_outstanding() const noexcept {
  int calls = -driven_.functions;
  for (const background* one = first_; one != nullptr; one = one->next_) ++calls;
  return calls > 0 || driven_.outstanding != 0 || !coroutines_.empty();
}

bool background::drives_others() noexcept {
  return mine().driven_.functions != 0;
}

void background::rethrow_failure() {
  list& all = mine();
  if (all.driven_.failure && !all.under_way_) [[unlikely]]
    std::rethrow_exception(std::exchange(all.driven_.failure, nullptr));
}

background::driven& background::driven_here() noexcept {
  return mine().driven_;
}

void background::list::answer_for_attended() noexcept {
  std::erase_if(attended_, [this](const std::shared_ptr<attendance_state>& one) {
    const attendance_state::claim hold{*one};
    if (one->by.load(std::memory_order_relaxed) != this || !one->made.is_here()) return true;
    one->answer();
    return false;
  });
}

attendance::attendance(std::function<void()> answer)
    : state_(std::make_shared<attendance_state>(std::move(answer))) {}

attendance::~attendance() {
  if (!state_->made.is_here()) return;  // the parent's threads, which may hold the claim, do not exist here
  const attendance_state::claim hold{*state_};
  state_->by.store(nullptr, std::memory_order_relaxed);
}

void attendance::take_over() {
  background::list& here = background::mine();
  if (state_->by.load(std::memory_order_relaxed) == &here) return;
  await_end_of_thread(here);
  here.attended_.push_back(state_);
  const attendance_state::claim hold{*state_};
  state_->by.store(&here, std::memory_order_relaxed);
}

}  // namespace chorale
