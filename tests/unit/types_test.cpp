// SPDX-License-Identifier: Apache-2.0
// Which types are elements, including those of the standard library that Chorale opts in.
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/combine.hpp>
#include <chorale/core/placed.hpp>
#include <chorale/core/reduction.hpp>

namespace {

/// An old-style class whose bytes are its value.
class old_style {
 public:
  explicit old_style(int value) : value_(value) {}
  old_style(const old_style& other) : value_(other.value_) {}
  old_style& operator=(const old_style& other) {
    value_ = other.value_;
    return *this;
  }
  ~old_style() {}  // NOLINT
  friend old_style operator+(const old_style& a, const old_style& b) {
    return old_style{a.value_ * 10 + b.value_};
  }
  [[nodiscard]] int value() const { return value_; }

 private:
  int value_;
};
struct not_opted_in {
  not_opted_in(const not_opted_in&) {}
};
/// Cannot be assigned, but its bytes can be replaced.
struct immutable {
  const int value;
};
struct polymorphic {
  virtual ~polymorphic() = default;
};

}  // namespace

template <>
inline constexpr bool chorale::enable_element<old_style> = true;
template <>
inline constexpr bool chorale::enable_element<polymorphic> = true;
template <>
inline constexpr bool chorale::enable_element<int*> = true;

using chorale::element;

static_assert(element<old_style> && !element<const old_style> && !element<not_opted_in>);
static_assert(chorale::enable_element<polymorphic> && chorale::enable_element<int*>);
static_assert(!element<polymorphic> && !element<int*>);  // contain addresses, even if opted in
static_assert(element<std::pair<int, double>> && element<std::pair<std::pair<int, char>, float>>);
static_assert(!element<std::pair<int*, int>> && !element<std::pair<int, std::string>>);
static_assert(!element<std::pair<const int, int>> && !element<std::pair<int&, int>>);
static_assert(!element<const std::pair<int, int>> && !element<std::pair<int, std::string_view>>);
static_assert(element<std::tuple<int, double, std::pair<int, int>>> && element<std::tuple<>>);
static_assert(!element<std::tuple<int, int*>> && !element<std::tuple<std::vector<int>>>);
static_assert(element<std::complex<double>> && element<std::pair<std::complex<float>, int>>);
static_assert(element<std::array<std::pair<int, int>, 3>> && element<std::array<old_style, 2>>);
static_assert(!element<std::array<int*, 2>> && !element<std::array<std::string, 2>>);
static_assert(!element<std::array<std::pair<int, int*>, 3>>);
static_assert(element<std::pair<old_style, int>> && element<chorale::placed<double>>);
static_assert(!element<chorale::placed<const char*>>);
static_assert(!element<std::span<int>> && !element<std::string_view> && !element<std::initializer_list<int>>);
static_assert(!element<std::reference_wrapper<int>> && !element<std::optional<int>>);

/// Structs and classes of programs.
namespace of_programs {
struct point {
  double x, y;
};
struct line {
  point ends[2];
  std::complex<float> phase;
  bool is_open : 1;
};
struct named_line : line {
  char name[32];
};
struct list_node {
  point at;
  list_node* next;
};
struct callback {
  int number;
  void (*call)(int);
};
struct list {
  int length;
  list_node first;
};
struct derived_node : list_node {
  int more;
};
struct phase {
  std::complex<double> value;
  const char* name;
};
union number {
  int whole;
  float part;
};
/// As an mdspan, a view of Kokkos or a map of Eigen: trivially copyable.
class view {
 public:
  view(double* data, int rows) : data_(data), rows_(rows) {}
  [[nodiscard]] double* data_handle() const { return data_; }
  [[nodiscard]] int rows() const { return rows_; }

 private:
  double* data_;
  int rows_;
};
struct with_view {
  int number;
  view of;
};
inline constexpr auto closure = [number = 1] { return number; };
}  // namespace of_programs
static_assert(element<of_programs::point> && element<of_programs::line> && element<of_programs::named_line>);
static_assert(element<of_programs::number> && element<std::pair<of_programs::line, int>>);
static_assert(!element<of_programs::list_node> && !element<of_programs::callback> &&
              !element<of_programs::list>);
static_assert(!element<of_programs::derived_node> && !element<of_programs::phase>);
static_assert(!element<of_programs::view> && !element<std::array<of_programs::view, 2>>);
static_assert(!element<of_programs::with_view> && !element<decltype(of_programs::closure)>);

using chorale::type_tag;

TEST_CASE("types: tags of pairs and complex numbers describe their parts", "[types]") {
  struct sixteen {
    double a, b;
  };
  STATIC_REQUIRE(type_tag<std::complex<double>>() == 0x0700'0010);
  STATIC_REQUIRE(type_tag<std::pair<double, double>>() == 0x0850'8508);
  STATIC_REQUIRE(type_tag<std::pair<double, int>>() == 0x0850'8304);
  STATIC_REQUIRE(type_tag<sixteen>() == 0x0000'0010);
  STATIC_REQUIRE(type_tag<std::pair<int, float>>() != type_tag<std::pair<float, int>>());
  STATIC_REQUIRE(type_tag<chorale::placed<float>>() == type_tag<std::pair<float, std::int64_t>>());
  const auto words = [](std::uint32_t tag) { return chorale::describe_type(tag); };
  CHECK(words(type_tag<std::complex<float>>()) == "complex of float32");
  CHECK(words(type_tag<std::pair<double, int>>()) == "pair of float64 and int32");
  CHECK(words(type_tag<std::pair<std::pair<int, int>, char>>()) == "pair of 8-byte pair and char");
  CHECK(words(type_tag<std::pair<std::complex<double>, bool>>()) == "pair of complex of float64 and bool");
  CHECK(words(type_tag<std::pair<std::array<char, 1000>, bool>>()) ==
        "pair of 255-byte struct or larger and bool");
  CHECK(words(0x08ff'ffff) == "unknown type (tag 150994943)");
}

namespace {

/// The element with these bytes, at any address.
template <class T>
T element_at(const std::byte* from) {
  alignas(T) std::byte bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof(T));
  return *reinterpret_cast<const T*>(bytes);
}

}  // namespace

TEST_CASE("types: elements that are not trivially copyable are combined at any address", "[types]") {
  using chorale::reduction;
  for (const std::size_t skew : {0U, 1U, 4U}) {
    alignas(8) std::byte left[24], right[24];
    const auto at = [&](std::byte* storage) { return std::span{storage + skew, sizeof(old_style)}; };
    const old_style two{2}, three{3};
    std::memcpy(left + skew, &two, sizeof two);
    std::memcpy(right + skew, &three, sizeof three);
    const auto op = reduction::of<old_style>(chorale::sum);
    op.combine_right(at(left), at(right));
    CHECK(element_at<old_style>(right + skew).value() == 23);
    op.combine_left(at(left), at(right));
    CHECK(element_at<old_style>(left + skew).value() == 43);

    using found = std::pair<float, std::uint16_t>;
    const found high{2.5F, 4}, low{1.5F, 6};
    std::memcpy(left + skew, &high, sizeof high);
    std::memcpy(right + skew, &low, sizeof low);
    reduction::of<found>(chorale::min_at)
        .combine_right({left + skew, sizeof(found)}, {right + skew, sizeof(found)});
    CHECK(element_at<found>(right + skew) == low);
    reduction::of<found>(chorale::max_at)
        .combine_left({right + skew, sizeof(found)}, {left + skew, sizeof(found)});
    CHECK(element_at<found>(right + skew) == high);
  }
}

TEST_CASE("types: elements that cannot be assigned are combined", "[types]") {
  alignas(8) std::byte left[8], right[8];
  const immutable seven{7}, five{5};
  std::memcpy(left, &seven, sizeof seven);
  std::memcpy(right, &five, sizeof five);
  const auto minus = [](const immutable& a, const immutable& b) { return immutable{a.value - b.value}; };
  const auto op = chorale::reduction::of<immutable>(minus);
  op.combine_right({left, sizeof seven}, {right, sizeof five});
  CHECK(element_at<immutable>(right).value == 2);
  op.combine_left({left, sizeof seven}, {right, sizeof five});
  CHECK(element_at<immutable>(left).value == 5);
}
