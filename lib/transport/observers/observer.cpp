#include <algorithm>
#include <mutex>
#include <utility>

#include <chorale/transport/observers/observer.hpp>

#include "../../core/immortal.hpp"

namespace chorale {
namespace {

struct observer_list {
  std::mutex mutex;
  std::vector<std::shared_ptr<observer>> all;
};

observer_list& of_process() {
  static detail::immortal<observer_list> list;
  return *list;
}

}  // namespace

void observe(std::shared_ptr<observer> one) {
  if (!one) return;
  observer_list& list = of_process();
  const std::lock_guard hold{list.mutex};
  list.all.push_back(std::move(one));
}

void stop_observing(const std::shared_ptr<observer>& one) {
  observer_list& list = of_process();
  const std::lock_guard hold{list.mutex};
  std::erase(list.all, one);
}

std::vector<std::shared_ptr<observer>> process_observers() {
  observer_list& list = of_process();
  const std::lock_guard hold{list.mutex};
  return list.all;
}

}  // namespace chorale
