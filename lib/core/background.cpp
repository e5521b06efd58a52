#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <unistd.h>
#include <utility>

#include <chorale/core/background.hpp>
#include <chorale/core/clock.hpp>

namespace chorale {

/// Shared by an attendance and the list of the thread that attends.
struct attendance_state {
  /// Who calls or changes `answer`. Not a mutex: fibers of one thread may contend for it.
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
  const pid_t process = getpid();  ///< a child of fork() does not answer for its parent
  std::atomic<bool> busy{false};
  std::atomic<const background::list*> by{nullptr};  ///< the list of the attending thread

  explicit attendance_state(std::function<void()> a) : answer(std::move(a)) {}
};

namespace {

// Initial-exec, as the clock's: every round of every wait reads it.
[[gnu::tls_model("initial-exec")]] constinit thread_local background::list* replacement = nullptr;
/// Caches the thread's own list, since accessing that is more expensive.
[[gnu::tls_model("initial-exec")]] constinit thread_local background::list* list_of_thread = nullptr;

}  // namespace

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
    static thread_local list of_this_thread;
    list_of_thread = &of_this_thread;
  }
  return *list_of_thread;
}

void background::replace(list* by) noexcept {
  replacement = by;
}

void background::enlist() noexcept {
  if (place_ != nullptr) return;
  list& all = mine();
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

bool background::get_on_with_all(attention how) noexcept {
  list& all = mine();
  if (all.first_ == nullptr && all.attended_.empty()) return false;
  if (std::exchange(all.under_way_, true)) return false;
  bool waits = false;
  all.next_ = all.first_;
  while (all.next_ != nullptr) {
    background* now = all.next_;
    all.next_ = now->next_;
    if (now->get_on(how)) waits = true;
  }
  if (!all.attended_.empty()) all.answer_for_attended();
  all.under_way_ = false;
  return waits;
}

void background::list::answer_for_attended() noexcept {
  std::erase_if(attended_, [this](const std::shared_ptr<attendance_state>& one) {
    const attendance_state::claim hold{*one};
    if (one->by.load(std::memory_order_relaxed) != this || one->process != getpid()) return true;
    one->answer();
    return false;
  });
}

attendance::attendance(std::function<void()> answer)
    : state_(std::make_shared<attendance_state>(std::move(answer))) {}

attendance::~attendance() {
  const attendance_state::claim hold{*state_};
  state_->by.store(nullptr, std::memory_order_relaxed);
}

void attendance::take_over() {
  background::list& here = background::mine();
  if (state_->by.load(std::memory_order_relaxed) == &here) return;
  here.attended_.push_back(state_);
  const attendance_state::claim hold{*state_};
  state_->by.store(&here, std::memory_order_relaxed);
}

}  // namespace chorale
