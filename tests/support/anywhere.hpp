// SPDX-License-Identifier: Apache-2.0
// Runs the ranks of a test as threads, or as fibers in virtual time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include <chorale/bootstrap/concept.hpp>
#include <chorale/core/clock.hpp>

namespace support {

/// Whether ranks are fibers in virtual time (CHORALE_TEST_DEVICE=sim0); otherwise they are threads.
[[nodiscard]] bool in_virtual_time();

/// The device that ranks use: "sim0" in virtual time, otherwise "soft0".
[[nodiscard]] const char* test_device();

/// True in virtual time, where the calling test is skipped; prints that, and the reason, on standard output.
[[nodiscard]] bool left_out_in_virtual_time(const char* why);

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

/// One rank of a group, as a thread or a fiber, so that tests are compiled only once.
class any_group {
 public:
  template <class G>
  explicit any_group(G& its) : of_(std::make_unique<holder<G>>(its)) {}

  [[nodiscard]] int rank() const { return of_->rank(); }
  [[nodiscard]] int size() const { return of_->size(); }
  [[nodiscard]] std::string job() const { return of_->job(); }
  [[nodiscard]] std::string describe() const { return of_->describe(); }
  chorale::bootstrap::cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
    return of_->exchange(mine, deadline);
  }

 private:
  struct any {
    virtual ~any() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    virtual std::string job() const = 0;
    virtual std::string describe() const = 0;
    virtual chorale::bootstrap::cards exchange(std::span<const std::byte> mine,
                                               std::chrono::milliseconds deadline) = 0;
  };
  template <class G>
  struct holder final : any {
    explicit holder(G& group) : held(&group) {}
    int rank() const override { return held->rank(); }
    int size() const override { return held->size(); }
    std::string job() const override { return held->job(); }
    std::string describe() const override { return held->describe(); }
    chorale::bootstrap::cards exchange(std::span<const std::byte> mine,
                                       std::chrono::milliseconds deadline) override {
      return held->exchange(mine, deadline);
    }
    G* held;
  };

  std::unique_ptr<any> of_;
};

/// Runs `body(group)` on `size` ranks of one group, and rethrows the first exception of a body. A rank must
/// wait for others only through the library, `clock::sleep_for`, `clock::give_way` or `gate`: in virtual
/// time, other waits would stop all ranks.
void run_anywhere(int size, action<any_group> body);

/// A barrier of ranks without the library, like std::barrier.
class gate {
 public:
  explicit gate(int size) noexcept : size_(size) {}
  void arrive_and_wait() {
    const int all = (came_.fetch_add(1) / size_ + 1) * size_;
    while (came_ < all) chorale::clock::sleep_for(std::chrono::microseconds{20});
  }

 private:
  int size_;
  std::atomic<int> came_{0};
};

}  // namespace support
