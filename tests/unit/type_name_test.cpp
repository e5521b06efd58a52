// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <chorale/algorithm/allreduce/degree_k.hpp>
#include <chorale/algorithm/allreduce/ring.hpp>
#include <chorale/algorithm/automatic.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/core/type_name.hpp>

namespace mine {
struct ring {};
template <class... Types>
struct outer {};
namespace deeper {
template <int N>
struct k {};
}  // namespace deeper
}  // namespace mine
struct type_name_at_large {};
namespace {
struct hidden {};
}  // namespace

using chorale::type_name;

TEST_CASE("the library's algorithms are named without namespaces") {
  CHECK(type_name<chorale::allreduce::ring>() == "ring");
  CHECK(type_name<chorale::allreduce::degree_k<3, chorale::broadcast::flat>>() == "degree_k<3, flat>");
}

TEST_CASE("other algorithms keep their namespaces, also within names of the library") {
  CHECK(type_name<mine::ring>() == "mine::ring");
  CHECK(type_name<mine::deeper::k<9>>() == "mine::deeper::k<9>");
  CHECK(type_name<type_name_at_large>() == "::type_name_at_large");
  CHECK(type_name<hidden>() == "{anonymous}::hidden");
  CHECK(type_name<mine::outer<chorale::allreduce::ring, unsigned char, type_name_at_large>>() ==
        "mine::outer<ring, unsigned char, ::type_name_at_large>");
  CHECK(type_name<mine::outer<mine::outer<hidden>>>() == "mine::outer<mine::outer<{anonymous}::hidden>>");
}
