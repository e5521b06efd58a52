// broadcast, ibroadcast.
#pragma once

#include <chorale/calls/caller.hpp>

namespace chorale::calls {

template <class Base, class Algorithm>
class broadcast_calls : public Base {
 public:
  using Base::Base;
  using broadcast_algorithm = Algorithm;

  /// Copies `data` of rank `root` into `data` of all ranks; the same count everywhere.
  template <element T, std::size_t N>
  void broadcast(std::span<T, N> data, int root = 0) {
    this->run(identify<T>(data, root), begin(std::as_writable_bytes(data), root));
  }
  template <element T, std::size_t N>
  request ibroadcast(std::span<T, N> data, int root = 0) {
    return this->start(identify<T>(data, root), begin(std::as_writable_bytes(data), root));
  }
  template <element T>
  void broadcast(T& value, int root = 0) {
    broadcast(std::span{&value, 1}, root);
  }

 private:
  template <class T>
  call identify(std::span<T> data, int root) const {
    this->check_root("broadcast", root);
    return {.what = operation::broadcast, .root = root, .bytes = data.size_bytes(), .type = type_tag<T>()};
  }
  auto begin(std::span<std::byte> data, int root) {
    return [this, data, root](epoch now) { return launch<Algorithm>(this->net(), now, data, root); };
  }
};

}  // namespace chorale::calls
