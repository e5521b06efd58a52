// SPDX-License-Identifier: Apache-2.0
// A product of matrices, by the machine's BLAS if there is one.
#pragma once

#include <cstddef>

namespace points {

/// c = a b, where a and c have `rows` rows and b is n by n; all row-major.
void multiply(std::size_t rows, std::size_t n, const double* a, const double* b, double* c);

}  // namespace points
