// SPDX-License-Identifier: Apache-2.0
// Elements whose size is known only at run time.
#include <cstring>
#include <string>

#include <chorale/core/elements.hpp>

#include "harness.hpp"

using chorale::byte_operator;
using chorale::elements;
using chorale::errc;

namespace {

/// Adds integers, under a name.
byte_operator adder(const std::string& name) {
  return {name, [](const std::byte* left, std::byte* right, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) {
              int a = 0, b = 0;
              std::memcpy(&a, left + sizeof a * i, sizeof a);
              std::memcpy(&b, right + sizeof b * i, sizeof b);
              b += a;
              std::memcpy(right + sizeof b * i, &b, sizeof b);
            }
          }};
}

}  // namespace

TEMPLATE_TEST_CASE("elements of run time go through every kind of call", "[misuse]", MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    const auto right = misuse::run<TestType>(size, [size](auto& comm) {
      const int me = comm.rank(), last = size - 1, sum = size * last / 2;
      int mine[2] = {me, 1}, result[2] = {}, from[2] = {me, me + 1};
      std::vector<int> all(2 * static_cast<std::size_t>(size));
      const elements data{mine, 2, sizeof(int), chorale::type_tag<int>()};
      const elements out{result, 2, sizeof(int), chorale::type_tag<int>()};
      const auto add = adder("add");
      const auto expect = [&](const int(&got)[2], int a, int b) {
        if (got[0] != a || got[1] != b) throw std::runtime_error("a wrong result");
      };
      comm.allreduce(data, out, add);
      expect(result, sum, size);
      comm.iallreduce(chorale::in_place, data, add).wait();
      expect(mine, sum, size);
      comm.reduce(out, data, add, chorale::root{last});
      if (me == last) expect(mine, size * sum, size * size);
      const elements fresh{from, 2, sizeof(int), chorale::type_tag<int>()};
      comm.broadcast(fresh, chorale::root{last});
      expect(from, last, last + 1);
      from[0] = me;
      comm.allgather(fresh, elements{all.data(), all.size(), sizeof(int), chorale::type_tag<int>()});
      for (int r = 0; r < size; ++r)
        if (all[2 * static_cast<std::size_t>(r)] != r) throw std::runtime_error("a wrong block");
      comm.scan(chorale::in_place, fresh, add);
      expect(from, me * (me + 1) / 2, (me + 1) * size);
      comm.barrier();
    });
    INFO(misuse::describe(right));
    for (const auto& one : right) CHECK(!one.failed());
  }
}

TEMPLATE_TEST_CASE("elements of run time: ranks that differ in type or operator", "[misuse]",
                   MISUSE_TRANSPORTS) {
  for (const int size : misuse::group_sizes) {
    const auto types = misuse::run<TestType>(size, [](auto& comm) {
      int mine[2] = {};
      const auto type = comm.rank() == 1 ? chorale::type_tag<float>() : chorale::type_tag<int>();
      comm.broadcast(elements{mine, 2, 4, type}, chorale::root{0});
    });
    INFO(misuse::describe(types));
    for (const auto& one : types) CHECK((!one.failed() || (one.is(errc::mismatch) && one.says({"float32"}))));
    CHECK(types[1].failed());
    // A process records the names of its operators, and these ranks share one process.
    const auto add = adder("add");
    const auto plus = adder("plus");
    const auto operators = misuse::run<TestType>(size, [&](auto& comm) {
      int mine[2] = {};
      comm.allreduce(chorale::in_place, elements{mine, 2, 4}, comm.rank() == 1 ? add : plus);
    });
    misuse::check_all_fail(operators, errc::mismatch, {"user operator 'add'", "user operator 'plus'"});
  }
}

TEMPLATE_TEST_CASE("elements of run time: buffers of one call with elements of two sizes", "[misuse]",
                   MISUSE_TRANSPORTS) {
  const auto all = misuse::run<TestType>(2, [](auto& comm) {
    int mine[4] = {1, 2, 3, 4}, other[4] = {5, 6, 7, 8};
    try {
      comm.allreduce(elements{mine, 4, 4}, elements{other, 2, 8}, adder("add"));
    } catch (const chorale::error&) {
      if (other[0] != 5 || other[3] != 8) throw std::runtime_error("it was written to");
      throw;
    }
  });
  misuse::check_all_refused(all, errc::invalid_argument,
                            {"reads elements of 4 bytes", "writes such of 8 bytes"});
}
