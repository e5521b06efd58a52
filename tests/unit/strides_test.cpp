// SPDX-License-Identifier: Apache-2.0
// Where the elements of strided operands are, which loops are joined, and which strides are refused.
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/error.hpp>
#include <chorale/core/strided.hpp>

#include "../support/collectives/spread_buffer.hpp"
#include "../support/seed.hpp"

namespace {

using chorale::steps;
using chorale::strided;

/// Like std::mdspan, with the last index varying fastest or slowest.
struct grid_view {
  struct shape {
    std::array<int, 3> sizes;
    [[nodiscard]] int extent(std::size_t i) const { return sizes[i]; }
  };
  double* first;
  shape sizes;
  std::array<int, 3> distances;

  static constexpr std::size_t rank() { return 3; }
  [[nodiscard]] double* data_handle() const { return first; }
  [[nodiscard]] shape extents() const { return sizes; }
  [[nodiscard]] int stride(std::size_t i) const { return distances[i]; }
};
static_assert(chorale::strided_operand<grid_view>);
static_assert(!chorale::strided_operand<std::vector<int>> && !chorale::strided_operand<std::span<int>>);
static_assert(!chorale::element<strided<int>> && !chorale::element<grid_view>);

template <class T>
std::vector<T> packed(const strided<T>& view) {
  std::vector<T> all(view.size());
  view.where().pack(reinterpret_cast<const std::byte*>(view.data()), 0,
                    std::as_writable_bytes(std::span{all}));
  return all;
}

template <class Make>
void require_refused(Make&& make) {
  try {
    make();
    FAIL("not refused");
  } catch (const chorale::error& e) {
    CHECK(e.code() == chorale::errc::invalid_argument);
  }
}

struct three {
  std::uint64_t parts[3];
  friend bool operator==(const three&, const three&) = default;
};

template <class T, class Value>
void check_pieces(Value&& value) {
  std::mt19937 random(static_cast<unsigned>(support::seed()));
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = random() % 5 == 0 ? random() % 3 : random() % 400;
    collectives::spread_buffer<T> from(count, random);
    from.fill_with(value);
    std::vector<T> all(count);
    const auto bytes = std::as_writable_bytes(std::span{all});
    const auto in_pieces = [&](auto&& use) {
      for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t piece = std::min<std::size_t>(1 + random() % 100, bytes.size() - at);
        use(at, bytes.subspan(at, piece));
        at += piece;
      }
    };
    const auto view = from.constant();
    in_pieces([&](std::size_t at, std::span<std::byte> piece) {
      view.where().pack(reinterpret_cast<const std::byte*>(view.data()), at, piece);
    });
    for (std::size_t i = 0; i < count; ++i) REQUIRE(all[i] == value(i));

    collectives::spread_buffer<T> to(count, random);
    const auto target = to.view();
    in_pieces([&](std::size_t at, std::span<std::byte> piece) {
      target.where().unpack(reinterpret_cast<std::byte*>(target.data()), at, piece);
    });
    CHECK(target.where().is_disjoint());
    to.check("unpacked", value);
  }
}

}  // namespace

TEST_CASE("packing and unpacking in pieces of any size finds each element", "[strides]") {
  INFO("seed " << support::seed());
  check_pieces<std::uint8_t>([](std::size_t i) { return static_cast<std::uint8_t>(i * 7 + 1); });
  check_pieces<std::int16_t>([](std::size_t i) { return static_cast<std::int16_t>(i + 1); });
  check_pieces<double>([](std::size_t i) { return static_cast<double>(i) + 0.5; });
  check_pieces<three>([](std::size_t i) { return three{{i, i + 1, i * i}}; });
}

TEST_CASE("a matrix gives its columns, its blocks and its transpose", "[strides]") {
  std::vector<double> matrix(6 * 4);
  std::iota(matrix.begin(), matrix.end(), 0.0);
  CHECK(packed(strided{matrix, 6, 1, 4}) == std::vector<double>{0, 4, 8, 12, 16, 20});
  CHECK(packed(strided{&matrix[5], 2, 2, 4}) == std::vector<double>{5, 6, 9, 10});
  CHECK(packed(strided{matrix.data(), {{4, 1}, {3, 4}}}) ==
        std::vector<double>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  CHECK(packed(strided{&matrix[20], 3, 1, -8}) == std::vector<double>{20, 12, 4});
  CHECK(packed(strided{&matrix[7], std::span<const steps>{}, 3}) == std::vector<double>{7, 8, 9});
  const grid_view view{matrix.data(), {{2, 1, 3}}, {4, 2, 8}};
  CHECK(packed(chorale::detail::as_strided(view)) == std::vector<double>{0, 8, 16, 4, 12, 20});
}

TEST_CASE("loops that continue each other are one, and what is contiguous is known as such", "[strides]") {
  std::vector<int> data(120);
  CHECK(strided{data, 10, 12, 12}.where().is_contiguous());
  CHECK(strided{data.data(), {{2, 60}, {3, 20}, {4, 5}}, 5}.where().is_contiguous());
  CHECK(strided{data, 1, 3, 50}.where().is_contiguous());
  CHECK(strided{data, 0, 3, 5}.where().is_contiguous());
  CHECK(strided{data, 0, 3, 5}.size() == 0);
  CHECK(strided{data, 3, 0, 5}.size() == 0);
  CHECK_FALSE(strided{data, 10, 11, 12}.where().is_contiguous());
  // Six loops, of which two are joined.
  CHECK(strided{data.data(), {{2, 300}, {2, 100}, {2, 40}, {2, 20}, {3, 6}, {2, 2}}}.size() == 96);
}

TEST_CASE("strides that cannot be served are refused", "[strides]") {
  std::vector<int> data(100);
  require_refused([&] { static_cast<void>(strided{data, 11, 1, 10}); });
  require_refused([&] { static_cast<void>(strided{data, 2, 1, -1}); });
  static_cast<void>(strided{data, 10, 10, 10});
  require_refused([&] { static_cast<void>(strided{data.data(), -1, 1, 10}); });
  require_refused([&] { static_cast<void>(strided{data.data(), 1U << 31, 1U << 31, 10}); });
  require_refused([&] { static_cast<void>(strided{data.data(), 3, 1, std::size_t{1} << 61}); });
  require_refused([&] {
    static_cast<void>(strided{data.data(), {{2, 101}, {2, 50}, {2, 23}, {2, 11}, {2, 5}, {2, 2}}});
  });
  CHECK_FALSE(strided{data, 3, 4, 3}.where().is_disjoint());
  CHECK_FALSE(strided{data.data(), 3, 1, 0}.where().is_disjoint());
  CHECK_FALSE(strided{&data[50], 3, 4, -3}.where().is_disjoint());
  CHECK_FALSE((strided{data.data(), {{3, 4}, {3, 2}}}.where().is_disjoint()));
  CHECK((strided{data.data(), {{2, 6}, {3, 2}}}.where().is_disjoint()));
  require_refused([&] { chorale::detail::check_strides_receive(strided{data, 3, 4, 3}.where()); });
}
