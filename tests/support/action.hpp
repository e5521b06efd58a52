// What a rank does in a test, whatever its type: who runs it is compiled once, not once for each body.
#pragma once

#include <memory>
#include <type_traits>

namespace support {

/// Refers to something that can be called with an `Argument&`, and does not own it.
template <class Argument>
class action {
 public:
  template <class Callable>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, action>) action(Callable&& what) noexcept
      : what_(const_cast<void*>(static_cast<const void*>(std::addressof(what)))),
        call_([](void* it, Argument& argument) {
          (*static_cast<std::remove_reference_t<Callable>*>(it))(argument);
        }) {}
  void operator()(Argument& argument) const { call_(what_, argument); }

 private:
  void* what_;
  void (*call_)(void*, Argument&);
};

}  // namespace support
