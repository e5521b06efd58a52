// SPDX-License-Identifier: Apache-2.0
#include "multiply.hpp"

#include <algorithm>
#ifdef CHORALE_TOOLS_HAVE_BLAS
#include <cblas.h>
#endif

namespace points {

void multiply(std::size_t rows, std::size_t n, const double* a, const double* b, double* c) {
#ifdef CHORALE_TOOLS_HAVE_BLAS
  const auto size = static_cast<int>(n);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(rows), size, size, 1.0, a, size, b,
              size, 0.0, c, size);
#else
  for (std::size_t i = 0; i < rows; ++i) {
    std::fill_n(c + i * n, n, 0.0);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  }
#endif
}

}  // namespace points
