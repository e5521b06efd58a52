// The type-erased body of a rank in a test, so that the functions that run it are compiled only once.
#pragma once

#include <memory>
#include <type_traits>

namespace support {

/// A non-owning reference to a function object that takes an `Argument&`.
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
