// Where the ranks of a test run: as threads, or as fibers in virtual time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <chorale/bootstrap/concept.hpp>
#include <chorale/core/clock.hpp>

#include "action.hpp"

namespace support {

/// Whether ranks are fibers in virtual time (CHORALE_TEST_DEVICE=sim0); otherwise they are threads.
[[nodiscard]] bool in_virtual_time();

/// The device that ranks use: "sim0" in virtual time, otherwise "soft0".
[[nodiscard]] const char* test_device();

/// True in virtual time, where the test that asks is left out; says on standard output that it is, and why.
[[nodiscard]] bool left_out_in_virtual_time(const char* why);

/// One rank of a group, wherever it runs, so that what a test does with it is compiled once.
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

/// Runs `body(group)` on so many ranks of one group, and rethrows the exception that a body let out first. A
/// rank that waits for another does it by the library, by `clock::sleep_for` or `clock::give_way`, or by
/// `gate`: in virtual time, anything else would stop all ranks.
void run_anywhere(int size, action<any_group> body);

/// Where so many ranks wait for each other without the library, as at a std::barrier.
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
