#include <algorithm>
#include <string>

#include <chorale/calls/scan.hpp>
#include <chorale/core/error.hpp>

namespace chorale::calls {

std::vector<std::byte> repeated(std::span<const std::byte> one, std::size_t bytes) {
  // Combined at once, so that the operator is not called through a pointer for every element.
  constexpr std::size_t stretch = 1024;
  std::vector<std::byte> all(std::min(bytes, std::max(one.size(), stretch / one.size() * one.size())));
  for (std::size_t at = 0; at < all.size(); at += one.size())
    std::copy(one.begin(), one.end(), all.begin() + static_cast<std::ptrdiff_t>(at));
  return all;
}

void reject_initial(std::size_t given, std::size_t one) {
  throw error(errc::invalid_argument, "exscan: the initial value is one element of " + std::to_string(one) +
                                          " bytes, and " + std::to_string(given) + " bytes were given");
}

}  // namespace chorale::calls
