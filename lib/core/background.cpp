#include <utility>

#include <chorale/core/background.hpp>

namespace chorale {

struct background::list {
  background* first = nullptr;
  /// The one whose turn is next; one that leaves the list in between moves it on.
  background* next = nullptr;
  bool under_way = false;

  list() = default;
  list(const list&) = delete;
  list& operator=(const list&) = delete;
  // What outlives its thread is on no list.
  ~list() {
    while (first != nullptr) {
      first->place_ = nullptr;
      first = std::exchange(first->next_, nullptr);
    }
  }
};

background::list& background::mine() noexcept {
  static thread_local list of_this_thread;
  return of_this_thread;
}

void background::enlist() noexcept {
  if (place_ != nullptr) return;
  list& all = mine();
  next_ = all.first;
  if (next_ != nullptr) next_->place_ = &next_;
  all.first = this;
  place_ = &all.first;
}

void background::delist() noexcept {
  if (place_ == nullptr) return;
  if (list& all = mine(); all.next == this) all.next = next_;
  *place_ = next_;
  if (next_ != nullptr) next_->place_ = place_;
  next_ = nullptr;
  place_ = nullptr;
}

void background::get_on_with_all(attention how) noexcept {
  list& all = mine();
  if (all.first == nullptr || std::exchange(all.under_way, true)) return;
  all.next = all.first;
  while (all.next != nullptr) {
    background* now = all.next;
    all.next = now->next_;
    now->get_on(how);
  }
  all.under_way = false;
}

}  // namespace chorale
