// SPDX-License-Identifier: Apache-2.0
// The group from which the programs make their communicators: a launcher's, or ranks of a simulation.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <chorale/bootstrap/concept.hpp>

namespace bench {

/// A bootstrap group of any type. Copies are the same group.
class any_group {
 public:
  template <chorale::bootstrap::group G>
  requires(!std::same_as<G, any_group>)
  explicit any_group(G group) : held_(std::make_shared<holder<G>>(std::move(group))) {}

  [[nodiscard]] int rank() const { return held_->rank(); }
  [[nodiscard]] int size() const { return held_->size(); }
  [[nodiscard]] int local_rank() const { return held_->local_rank(); }
  [[nodiscard]] std::string job() const { return held_->job(); }
  [[nodiscard]] std::string describe() const { return held_->describe(); }
  chorale::bootstrap::cards exchange(std::span<const std::byte> mine, std::chrono::milliseconds deadline) {
    return held_->exchange(mine, deadline);
  }

 private:
  struct any {
    any() = default;
    any(const any&) = delete;
    any& operator=(const any&) = delete;
    virtual ~any() = default;
    virtual int rank() = 0;
    virtual int size() = 0;
    virtual int local_rank() = 0;
    virtual std::string job() = 0;
    virtual std::string describe() = 0;
    virtual chorale::bootstrap::cards exchange(std::span<const std::byte> mine,
                                               std::chrono::milliseconds deadline) = 0;
  };
  template <class G>
  struct holder final : any {
    explicit holder(G its_group) : group(std::move(its_group)) {}
    int rank() override { return group.rank(); }
    int size() override { return group.size(); }
    int local_rank() override { return chorale::bootstrap::local_rank_of(group); }
    std::string job() override { return group.job(); }
    std::string describe() override { return group.describe(); }
    chorale::bootstrap::cards exchange(std::span<const std::byte> mine,
                                       std::chrono::milliseconds deadline) override {
      return group.exchange(mine, deadline);
    }
    G group;
  };
  std::shared_ptr<any> held_;
};

}  // namespace bench
