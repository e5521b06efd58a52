// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <climits>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include <chorale/core/error.hpp>

#include "../../lib/core/sent_code.hpp"

using Catch::Contains;
using chorale::errc;

TEST_CASE("error: every code has its own message, and other numbers are unknown errors", "[error]") {
  std::set<std::string> messages;
  for (int value = 1; value <= static_cast<int>(errc::misuse); ++value) {
    const std::string message = chorale::category().message(value);
    INFO("code " << value);
    CHECK_FALSE(message.empty());
    CHECK(message != "unknown error");
    CHECK(messages.insert(message).second);
  }
  CHECK(chorale::category().message(0) == "unknown error");
  CHECK(chorale::category().message(static_cast<int>(errc::misuse) + 1) == "unknown error");
  CHECK(std::string{chorale::category().name()} == "chorale");
}

TEST_CASE("error: carries code, text and ranks, and is a std::system_error", "[error]") {
  const chorale::error e{errc::mismatch, "allreduce number 7: rank 3 called broadcast", {3, 5}};
  CHECK(e.code() == errc::mismatch);
  CHECK(e.code().category() == chorale::category());
  CHECK(e.code() != std::error_code(static_cast<int>(errc::mismatch), std::generic_category()));
  CHECK(e.ranks() == std::vector<int>{3, 5});
  CHECK_THAT(e.what(), Contains("allreduce number 7: rank 3 called broadcast"));
  CHECK_THAT(e.what(), Contains(e.code().message()));
  CHECK(chorale::error(errc::poisoned, "x").ranks().empty());
  const std::error_code converted = errc::deadline;  // implicit, as for std::errc
  CHECK(converted.message() == "deadline passed");
  CHECK_THROWS_AS([&] { throw e; }(), std::system_error);
}

TEST_CASE("error: an unknown code of another rank is replaced by a known one", "[error]") {
  for (int sent = 1; sent <= static_cast<int>(errc::misuse); ++sent) {
    CHECK(chorale::code_to_send(chorale::code_received(sent)) == sent);
    CHECK(chorale::code_received(sent) == static_cast<errc>(sent));
  }
  for (const int sent : {0, -1, -195, static_cast<int>(errc::misuse) + 1, 1 << 30, INT_MIN})
    CHECK(chorale::code_received(sent) == errc::poisoned);
  CHECK(chorale::code_to_send({ENOMEM, std::generic_category()}) == static_cast<int>(errc::verbs_failed));
}

TEST_CASE("error: a copy keeps the ranks", "[error]") {
  const chorale::error original{errc::peer_lost, "rank 2 is gone", {2}};
  const auto stored = std::make_exception_ptr(original);
  try {
    std::rethrow_exception(stored);
  } catch (const chorale::error& e) {
    CHECK(e.ranks() == std::vector<int>{2});
    CHECK(std::string{e.what()} == original.what());
  }
}

TEST_CASE("error: throw_errno names call, object, remedy and errno", "[error]") {
  try {
    chorale::throw_errno(ENOMEM, "ibv_reg_mr", "mlx5_0", "raise the memlock limit: ulimit -l");
    FAIL("returned");
  } catch (const chorale::error& e) {
    CHECK(e.code() == std::errc::not_enough_memory);
    CHECK(e.code().category() == std::generic_category());
    CHECK(std::string{e.what()} == "ibv_reg_mr on mlx5_0 (raise the memlock limit: ulimit -l): " +
                                       std::generic_category().message(ENOMEM));
  }
  CHECK_THROWS_WITH(chorale::throw_errno(EINVAL, "ibv_modify_qp", "queue pair 5"),
                    "ibv_modify_qp on queue pair 5: " + std::generic_category().message(EINVAL));
}
