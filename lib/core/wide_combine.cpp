// SPDX-License-Identifier: Apache-2.0
#include <concepts>
#include <cstring>
#include <type_traits>

#include <chorale/core/wide_combine.hpp>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace chorale::detail {

#if defined(__x86_64__) && defined(__GNUC__)
namespace {

// Only these functions may be compiled for AVX2: a header's template or inline function compiled for it could
// also be called on processors without AVX2.
#define CHORALE_AVX2 [[gnu::target("avx2")]]

template <class T>
struct vector_of {
  using type [[gnu::vector_size(32)]] = T;
};

// Floating-point sums and products are in assembly, since the compiler may exchange operands: of two NaNs
// these instructions return the first, which must be the left one, as in the function objects.
#define CHORALE_AVX_OPERATION(name, sign, singles, doubles)          \
  struct name {                                                      \
    template <class V>                                               \
    CHORALE_AVX2 static V of(V a, V b) noexcept {                    \
      using element = std::remove_cvref_t<decltype(a[0])>;           \
      V result;                                                      \
      if constexpr (std::same_as<element, float>)                    \
        asm(singles " %2, %1, %0" : "=x"(result) : "x"(a), "xm"(b)); \
      else if constexpr (std::same_as<element, double>)              \
        asm(doubles " %2, %1, %0" : "=x"(result) : "x"(a), "xm"(b)); \
      else                                                           \
        result = a sign b;                                           \
      return result;                                                 \
    }                                                                \
  }
CHORALE_AVX_OPERATION(add, +, "vaddps", "vaddpd");
CHORALE_AVX_OPERATION(multiply, *, "vmulps", "vmulpd");
#undef CHORALE_AVX_OPERATION
// As `min_t` and `max_t`: if equal, the left one; if either is NaN, NaN. For integers b != b is always false.
struct smaller {
  template <class V>
  CHORALE_AVX2 static V of(V a, V b) noexcept {
    return ((b < a) | (b != b)) ? b : a;
  }
};
struct larger {
  template <class V>
  CHORALE_AVX2 static V of(V a, V b) noexcept {
    return ((a < b) | (b != b)) ? b : a;
  }
};
struct both {
  template <class V>
  CHORALE_AVX2 static V of(V a, V b) noexcept {
    return a & b;
  }
};
struct either {
  template <class V>
  CHORALE_AVX2 static V of(V a, V b) noexcept {
    return a | b;
  }
};
struct unequal {
  template <class V>
  CHORALE_AVX2 static V of(V a, V b) noexcept {
    return a ^ b;
  }
};

// By intrinsics, since with std::memcpy g++ moves a vector through the stack in halves, which is several
// times slower.
template <class V>
CHORALE_AVX2 V load(const std::byte* from) noexcept {
  return reinterpret_cast<V>(_mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(from)));
}
template <class V>
CHORALE_AVX2 void store(std::byte* to, V vector) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(to), reinterpret_cast<__m256i>(vector));
}

template <class T, class Op>
CHORALE_AVX2 void combine_elements(const std::byte* left, const std::byte* right, std::byte* out,
                                   std::size_t n) noexcept {
  const std::size_t bytes = n * sizeof(T);
  using vector = typename vector_of<T>::type;
  constexpr std::size_t width = sizeof(vector);
  std::size_t at = 0;
  for (; bytes - at >= 2 * width; at += 2 * width) {
    const vector first = Op::of(load<vector>(left + at), load<vector>(right + at));
    const vector second = Op::of(load<vector>(left + at + width), load<vector>(right + at + width));
    store(out + at, first);
    store(out + at + width, second);
  }
  while (at < bytes) {
    const std::size_t part = bytes - at < width ? bytes - at : width;
    vector a{};
    vector b{};
    std::memcpy(&a, left + at, part);
    std::memcpy(&b, right + at, part);
    a = Op::of(a, b);
    std::memcpy(out + at, &a, part);
    at += part;
  }
}

using loop = void(const std::byte*, const std::byte*, std::byte*, std::size_t) noexcept;

/// The type in which sums, products and bitwise operations on T are computed: unsigned, so that integers
/// wrap.
template <class T>
struct bits_of {
  using type = T;
};
template <std::integral T>
struct bits_of<T> {
  using type = std::make_unsigned_t<T>;
};

template <class T>
loop* loop_of(wide_operator op) noexcept {
  using bits = typename bits_of<T>::type;
  if constexpr (std::integral<T>) {
    if (op == wide_operator::bitwise_and) return combine_elements<bits, both>;
    if (op == wide_operator::bitwise_or) return combine_elements<bits, either>;
    if (op == wide_operator::bitwise_xor) return combine_elements<bits, unequal>;
  }
  switch (op) {
    case wide_operator::sum:
      return combine_elements<bits, add>;
    case wide_operator::prod:
      return combine_elements<bits, multiply>;
    case wide_operator::min:
      return combine_elements<T, smaller>;
    case wide_operator::max:
      return combine_elements<T, larger>;
    default:
      return nullptr;
  }
}

loop* loop_of(wide_operator op, wide_type type) noexcept {
  switch (type) {
    case wide_type::i8:
      return loop_of<std::int8_t>(op);
    case wide_type::i16:
      return loop_of<std::int16_t>(op);
    case wide_type::i32:
      return loop_of<std::int32_t>(op);
    case wide_type::i64:
      return loop_of<std::int64_t>(op);
    case wide_type::u8:
      return loop_of<std::uint8_t>(op);
    case wide_type::u16:
      return loop_of<std::uint16_t>(op);
    case wide_type::u32:
      return loop_of<std::uint32_t>(op);
    case wide_type::u64:
      return loop_of<std::uint64_t>(op);
    case wide_type::f32:
      return loop_of<float>(op);
    case wide_type::f64:
      return loop_of<double>(op);
    default:
      return nullptr;
  }
}

}  // namespace

bool combine_wide(wide_operator op, wide_type type, const std::byte* left, const std::byte* right,
                  std::byte* out, std::size_t n) noexcept {
  if (!__builtin_cpu_supports("avx2")) return false;
  loop* const combine = loop_of(op, type);
  if (combine == nullptr) return false;
  combine(left, right, out, n);
  return true;
}

#else

bool combine_wide(wide_operator, wide_type, const std::byte*, const std::byte*, std::byte*,
                  std::size_t) noexcept {
  return false;
}

#endif

}  // namespace chorale::detail
