// SPDX-License-Identifier: Apache-2.0
// P4 figure 5(c): C = A B with rows distributed over the ranks; B is gathered and multiplied, each time in a
// fresh set of buffers.
#include <chrono>
#include <cmath>
#include <cstdint>

#include <chorale/algorithm/allgather/recursive_doubling.hpp>
#include <chorale/transport/rc_send_receive.hpp>

#include "figure.hpp"
#include "multiply.hpp"

namespace points {
namespace {

// Integers, so that sums of products are exact in any order.
double a_at(std::size_t row, std::size_t column) {
  return static_cast<double>((row * 31 + column * 17) % 23) - 11;
}
double b_at(std::size_t row, std::size_t column) {
  return static_cast<double>((row * 13 + column * 7) % 29) - 14;
}

struct matrices {
  std::vector<double> own_b, a, b, c;
};

/// The size of the n by n matrices follows from the bytes of a row of B: n = bytes / 8.
template <class Transport>
class product final : public chorale::bench::contestant {
 public:
  product(const job& in, std::string series, std::size_t places, bool registered_each_time)
      : contestant("matrix", std::move(series), Transport::name),
        in_(in),
        comm_(settings(registered_each_time)),
        sets_(places) {}

  void meet() override { in_.control.barrier(); }
  double run(std::size_t bytes, int calls) override {
    make(bytes / sizeof(double));
    return chorale::bench::time_together(calls, [&] { call(bytes / sizeof(double)); });
  }
  std::string check(std::size_t bytes, team&) override {
    const std::size_t n = bytes / sizeof(double);
    make(n);
    std::string wrong;
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      auto& set = sets_[turn_ % sets_.size()];
      std::fill(set.b.begin(), set.b.end(), -1);
      std::fill(set.c.begin(), set.c.end(), -1);
      call(n);
      if (wrong.empty()) wrong = compare_product(n, set.c);
    }
    return wrong;
  }

 private:
  static chorale::config settings(bool registered_each_time) {
    auto c = chorale::config::from_environment();
    if (registered_each_time) c.registration_entries = 1;
    return c;
  }
  [[nodiscard]] std::size_t rows(std::size_t n) const { return n / static_cast<std::size_t>(comm_.size()); }
  [[nodiscard]] std::size_t first_row(std::size_t n) const {
    return rows(n) * static_cast<std::size_t>(comm_.rank());
  }

  void make(std::size_t n) {
    for (auto& set : sets_) {
      if (set.b.size() == n * n) continue;
      const std::size_t own = rows(n) * n;
      set = {std::vector<double>(own), std::vector<double>(own), std::vector<double>(n * n),
             std::vector<double>(own)};
      for (std::size_t at = 0; at < own; ++at) {
        set.a[at] = a_at(first_row(n) + at / n, at % n);
        set.own_b[at] = b_at(first_row(n) + at / n, at % n);
      }
    }
  }
  void call(std::size_t n) {
    auto& set = sets_[turn_++ % sets_.size()];
    comm_.allgather(set.own_b, set.b);
    multiply(rows(n), n, set.a.data(), set.b.data(), set.c.data());
  }
  /// Compares with the product of these rows, computed by its definition.
  [[nodiscard]] std::string compare_product(std::size_t n, const std::vector<double>& c) const {
    std::vector<double> row(n);
    for (std::size_t i = 0; i < rows(n); ++i) {
      std::fill(row.begin(), row.end(), 0.0);
      for (std::size_t k = 0; k < n; ++k) {
        const double x = a_at(first_row(n) + i, k);
        for (std::size_t j = 0; j < n; ++j) row[j] += x * b_at(k, j);
      }
      for (std::size_t j = 0; j < n; ++j)
        if (c[i * n + j] != row[j])
          return fmt::format("element ({}, {}) of the product is {}, not {}", first_row(n) + i, j,
                             c[i * n + j], row[j]);
    }
    return {};
  }

  const job& in_;
  chorale::communicator<Transport, chorale::allgather::recursive_doubling> comm_;
  std::vector<matrices> sets_;
  std::size_t turn_ = 0;
};

}  // namespace

contestants matrix(const job& in) {
  using chorale::transport::rc;
  using chorale::transport::rc_send_receive;
  constexpr std::size_t places = 8;
  contestants all;
  for (const bool fresh : {true, false}) {
    const std::string how = fresh ? "fresh buffers" : "kept buffers";
    all.push_back({"RDMA, " + how, std::make_unique<product<rc>>(in, how, places, fresh)});
    all.push_back(
        {"send/receive, " + how, std::make_unique<product<rc_send_receive>>(in, how, places, fresh)});
  }
  return all;
}

}  // namespace points
