// Every algorithm on every transport: group sizes, roots and message sizes, against a serial computation.
#include "policies.hpp"

#include <array>
#include <vector>

#include <chorale/calls/compiled/ud.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

#include "../support/collectives/checks.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace collectives;
using chorale::transport::rc;
using chorale::transport::ud;

namespace {

constexpr std::array group_sizes{1, 2, 3, 4, 5, 7, 8, 12, 13, 16, 17, 33};

/// Around nothing, one word, one block and several.
template <class Comm>
std::vector<std::size_t> counts(Comm& comm, std::size_t element) {
  const std::size_t block = comm.transport().block_bytes() / element;
  return {0, 1, 7, 8, 100, block - 1, block, block + 1, 5 * block + 3};
}

template <class Comm>
void all_operations(Comm& comm) {
  std::uint64_t s = seed();
  const auto vary = [&s] {
    const std::uint64_t n = mixed(++s);
    return manner{
        .nonblocking = n % 3 == 0, .in_place = n % 2 == 0, .misalignment = n / 8 % 4 == 0 ? n / 64 % 24 : 0};
  };
  for (const auto count : counts(comm, 1))
    for (const int root : {0, comm.size() / 2, comm.size() - 1})
      check_broadcast<std::byte>(comm, count, root, s, vary());
  for (const auto count : counts(comm, sizeof(triangle))) {
    for (const int root : {0, comm.size() / 2, comm.size() - 1})
      check_reduce<triangle>(comm, count, root, multiply{}, s, vary());
    check_allreduce<triangle>(comm, count, multiply{}, s, vary());
  }
  for (const auto count : counts(comm, sizeof(std::uint64_t)))
    check_allreduce<std::uint64_t>(comm, count, chorale::sum, s, vary());
  for (int i = 0; i < 10; ++i) check_barrier(comm, vary());
}

using computing =
    watched_list<std::tuple<standard<rc>, degree_1<rc>, degree_3<rc>, degree_7<rc>, degree_15<rc>,
                            doubling<rc>, by_rank<rc>, standard<ud>, degree_1<ud>, degree_3<ud>, degree_7<ud>,
                            degree_15<ud>, doubling<ud>, by_rank<ud>, halving<rc>, halving<ud>, rings<rc>,
                            rings<ud>, reproducible<rc>, reproducible<ud>>,
                 std::tuple<standard<ud>, degree_1<rc>, degree_3<rc>, degree_7<ud>, degree_15<ud>,
                            doubling<rc>, by_rank<ud>, halving<rc>, rings<rc>, reproducible<rc>>,
                 std::tuple<standard<rc>, degree_3<rc>, halving<rc>, standard<ud>, degree_7<ud>>>;
using straight =
    std::tuple<degree_1<rc>, degree_3<rc>, doubling<rc>, halving<rc>, rings<rc>, reproducible<rc>>;
using going_straight = watched_list<straight, straight, std::tuple<degree_3<rc>, halving<rc>>>;
using segmented =
    std::tuple<degree_1<rc>, degree_3<rc>, halving<rc>, rings<rc>, reproducible<rc>, reading<rc>>;
using in_segments = watched_list<segmented, segmented, std::tuple<rings<rc>>>;
using rooted = watched_list<
    std::tuple<degree_1<rc>, degree_3<rc>, degree_7<rc>, degree_15<rc>, degree_1<ud>, degree_3<ud>>,
    std::tuple<degree_1<rc>, degree_3<rc>, degree_7<ud>, degree_15<ud>>,
    std::tuple<degree_3<rc>, degree_7<ud>>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("every algorithm computes what a serial program computes", "[policies]", computing) {
  for (const int size : group_sizes) {
    if (too_large(size)) continue;
    run_ranks<TestType>(size, settings(), [](auto& comm) { all_operations(comm); });
  }
}

TEMPLATE_LIST_TEST_CASE("and so does each that goes straight between the users' buffers", "[policies]",
                        going_straight) {
  for (const int size : {2, 3, 5, 8}) {
    auto c = settings();
    c.zero_copy_bytes = size % 2 == 0 ? 100 : 1;
    run_ranks<TestType>(size, c, [](auto& comm) { all_operations(comm); });
  }
}

TEMPLATE_LIST_TEST_CASE("a broadcast of several segments reaches everyone from every root", "[policies]",
                        in_segments) {
  for (const int size : {2, 3, 5}) {
    auto c = settings();
    c.zero_copy_bytes = 1000;
    run_ranks<TestType>(size, c, [](auto& comm) {
      for (int root = 0; root < comm.size(); ++root)
        check_broadcast<std::byte>(comm, 300'001, root, seed() + static_cast<std::uint64_t>(root));
    });
  }
}

TEMPLATE_LIST_TEST_CASE("every rank may be the root", "[policies]", rooted) {
  for (const int size : {2, 3, 4, 5, 7, 8, 13, 16, 17}) {
    if (too_large(size)) continue;
    run_ranks<TestType>(size, settings(), [](auto& comm) {
      for (int root = 0; root < comm.size(); ++root) {
        const auto s = seed() + static_cast<std::uint64_t>(root);
        check_broadcast<std::uint16_t>(comm, 5, root, s);
        check_reduce<triangle>(comm, 3, root, multiply{}, s);
        check_reduce<triangle>(comm, 3, root, multiply{}, s + 1, {.in_place = true});
      }
    });
  }
}
