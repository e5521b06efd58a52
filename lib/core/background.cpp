#include <utility>

#include <chorale/core/background.hpp>

namespace chorale {
namespace {

// Initial-exec, as the clock's: every round of every wait reads it.
[[gnu::tls_model("initial-exec")]] constinit thread_local background::list* replacement = nullptr;
/// Caches the thread's own list, since accessing that is more expensive.
[[gnu::tls_model("initial-exec")]] constinit thread_local background::list* list_of_thread = nullptr;

}  // namespace

background::list::~list() {
  while (first_ != nullptr) {
    first_->place_ = nullptr;
    first_ = std::exchange(first_->next_, nullptr);
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
  if (all.first_ == nullptr || std::exchange(all.under_way_, true)) return false;
  bool waits = false;
  all.next_ = all.first_;
  while (all.next_ != nullptr) {
    background* now = all.next_;
    all.next_ = now->next_;
    if (now->get_on(how)) waits = true;
  }
  all.under_way_ = false;
  return waits;
}

}  // namespace chorale
