// SPDX-License-Identifier: Apache-2.0
// Addresses of ranks: in blocks, in turns, and in any order, compared with a list of all.
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/transport/wire/address_book.hpp>

#include "../support/seed.hpp"

using chorale::transport::address_book;

TEST_CASE("each rank has the address that it was added with", "[address_book]") {
  std::mt19937 random{support::seed()};
  for (const int size : {1, 2, 3, 5, 7, 13, 16, 17, 33}) {
    for (int round = 0; round < 12; ++round) {
      const int ports = 1 + static_cast<int>(random() % 4);
      address_book book;
      std::vector<std::uint16_t> lids;
      for (int r = 0; r < size; ++r) {
        const int port = round % 3 == 0   ? r * ports / size
                         : round % 3 == 1 ? r % ports
                                          : static_cast<int>(random() % static_cast<unsigned>(ports));
        lids.push_back(static_cast<std::uint16_t>(port));
        chorale::verbs::endpoint_address address{};
        address.lid = lids.back();
        book.add(address);
      }
      CHECK(book.size() == std::set<std::uint16_t>(lids.begin(), lids.end()).size());
      for (int r = 0; r < size; ++r) {
        const std::uint16_t lid = lids[static_cast<std::size_t>(r)];
        CHECK(book.of(r).lid == lid);
        CHECK(book.number_of(r) < book.size());
        for (int other = 0; other < r; ++other)
          CHECK((book.number_of(other) == book.number_of(r)) ==
                (lids[static_cast<std::size_t>(other)] == lid));
      }
    }
  }
}
