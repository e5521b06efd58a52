// A queue that is a pointer when it is empty: there are millions.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace chorale::simulation::ghosts {

/// First in, first out. It has memory only while it has elements.
template <class T>
class fifo {
 public:
  [[nodiscard]] bool empty() const noexcept { return held_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept {
    return held_ == nullptr ? 0 : held_->all.size() - held_->first;
  }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
    return held_->all[held_->first + index];
  }
  [[nodiscard]] const T& front() const noexcept { return (*this)[0]; }
  void push(T one) {
    if (held_ == nullptr) held_ = std::make_unique<held>();
    held_->all.push_back(std::move(one));
  }
  void pop() noexcept {
    held_->all[held_->first] = T{};
    if (++held_->first == held_->all.size()) held_.reset();
  }

 private:
  struct held {
    std::vector<T> all;
    std::size_t first = 0;
  };

  std::unique_ptr<held> held_;
};

}  // namespace chorale::simulation::ghosts
