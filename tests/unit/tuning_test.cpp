// SPDX-License-Identifier: Apache-2.0
// The choice of algorithms by measurements and by formulas.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/error.hpp>
#include <chorale/model/tuning.hpp>

#include "../support/expect.hpp"
#include "../support/reads_json.hpp"

using namespace chorale::model;
using chorale::operation;

namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

measurement row(std::string algorithm, std::size_t bytes, double us, int ranks = 4, bool crowded = false,
                std::string transport = "rc") {
  return {operation::allgather, std::move(transport), ranks, crowded, bytes, std::move(algorithm), us};
}

const std::vector<std::string> names{"ring", "bruck", "my_own"};

/// The name of the algorithm that serves `bytes`.
std::string chosen(const std::vector<rule>& rules, std::size_t bytes) {
  for (const auto& r : rules) {
    if (bytes <= r.up_to) return names[static_cast<std::size_t>(r.algorithm)];
  }
  return "none";
}

/// A file that is removed with its object.
struct temporary_file {
  explicit temporary_file(const std::string& text) {
    std::string fresh = std::filesystem::temp_directory_path() / "chorale-tuning-XXXXXX";
    const int fd = mkstemp(fresh.data());
    REQUIRE(fd >= 0);
    close(fd);
    name = fresh;
    std::ofstream{name} << text;
  }
  ~temporary_file() { std::filesystem::remove(name); }
  std::filesystem::path name;
};

std::string refusal(const std::string& file) {
  return support::thrown_by([&] { tuning_table::read(file); });
}

}  // namespace

TEST_CASE("the fastest measured algorithm serves the sizes around its measurement", "[tuning]") {
  const tuning_table table{{row("ring", 64, 9), row("bruck", 64, 3), row("ring", 4096, 10),
                            row("bruck", 4096, 30), row("ring", 65536, 50), row("bruck", 65536, 500)},
                           "a test"};
  const auto rules = table.rules({operation::allgather, "rc", 4, false}, names);
  REQUIRE(rules.size() == 2);
  // The border is the geometric mean of 64 and 4096.
  CHECK(chosen(rules, 0) == "bruck");
  CHECK(chosen(rules, 512) == "bruck");
  CHECK(chosen(rules, 513) == "ring");
  CHECK(chosen(rules, unlimited) == "ring");
  CHECK(rules.back().up_to == unlimited);
  CHECK(rules.front().why.find("bruck 3 us, ring 9 us at 64 bytes") != std::string::npos);
  CHECK(rules.front().why.find("a test") != std::string::npos);
}

TEST_CASE("measurements of a similar situation count, others do not", "[tuning]") {
  const tuning_table table{{row("ring", 64, 1, 2), row("bruck", 64, 2, 2), row("ring", 64, 5, 8),
                            row("bruck", 64, 4, 8), row("ring", 64, 1, 8, true), row("bruck", 64, 2, 8, true),
                            row("bruck", 64, 1, 8, false, "ud"), row("ring", 64, 2, 8, false, "ud")},
                           "a test"};
  const auto choose = [&](int ranks, bool crowded, const char* transport) {
    return chosen(table.rules({operation::allgather, transport, ranks, crowded}, names), 64);
  };
  CHECK(choose(2, false, "rc") == "ring");
  CHECK(choose(3, false, "rc") == "ring");
  CHECK(choose(6, false, "rc") == "bruck");
  CHECK(choose(16, false, "rc") == "bruck");
  CHECK(choose(8, true, "rc") == "ring");
  CHECK(choose(8, false, "ud") == "bruck");
  // A transport without measurements is assumed to be like rc.
  CHECK(choose(2, false, "another") == "ring");
}

TEST_CASE("groups of several places have measurements of their own", "[tuning]") {
  const auto row_of = [](std::string algorithm, double us, int places, int largest) {
    measurement m = row(std::move(algorithm), 64, us, places * largest);
    m.places = places;
    m.largest = largest;
    return m;
  };
  const tuning_table table{
      {row("ring", 64, 1, 16), row("bruck", 64, 2, 16), row_of("ring", 2, 4, 4), row_of("bruck", 1, 4, 4),
       row_of("bruck", 2, 16, 16), row_of("my_own", 1, 16, 16)},
      "a test"};
  const auto choose = [&](int ranks, int places, int largest) {
    return chosen(table.rules({operation::allgather, "rc", ranks, false, false, places, largest}, names), 64);
  };
  CHECK(choose(16, 1, 16) == "ring");
  CHECK(choose(16, 16, 1) == "ring");
  CHECK(choose(16, 4, 4) == "bruck");
  CHECK(choose(5, 2, 3) == "bruck");
  CHECK(choose(64, 8, 8) == "bruck");
  CHECK(choose(256, 16, 16) == "my_own");
  CHECK(choose(2048, 32, 64) != "my_own");
  // Far from all groups with levels, the rows of groups without levels are used.
  CHECK(choose(30, 2, 29) == "ring");
  const auto why = [&](int ranks, int places, int largest) {
    return table.rules({operation::allgather, "rc", ranks, false, false, places, largest}, names).front().why;
  };
  CHECK_THAT(why(5, 2, 3), Catch::Contains("measured on 16 ranks in 4 places over rc, a test"));
  CHECK_THAT(why(16, 16, 1), Catch::Contains("measured on 16 ranks over rc, a test"));
  const tuning_table others{{row_of("ring", 1, 4, 4)}, "a test"};
  CHECK(others.fingerprint() != tuning_table{{row("ring", 64, 1, 16)}, "a test"}.fingerprint());
}

TEST_CASE("far from all measurements formulas decide", "[tuning]") {
  const tuning_table table{{row("bruck", 1 << 20, 1, 2), row("ring", 1 << 20, 2, 2)}, "a test"};
  const auto rules = table.rules({operation::allgather, "rc", 64, false}, names);
  CHECK(chosen(rules, 8) == "bruck");
  CHECK(chosen(rules, 1 << 20) == "bruck");
  CHECK(chosen(rules, 4 << 20) == "ring");
  CHECK(rules.front().why.find("by formula for 64 ranks") != std::string::npos);
}

TEST_CASE("adapters have a built-in table of their own", "[tuning]") {
  const auto soft = tuning_table::built_in();
  const auto simulated = tuning_table::built_in(true);
  CHECK(tuning_table::of({}, true) == simulated);
  CHECK(soft->fingerprint() != simulated->fingerprint());
  CHECK(simulated->origin().find("simulated") != std::string::npos);
  std::size_t crowded = 0;
  int most_ranks = 0;
  for (const auto& one : simulated->rows()) {
    crowded += one.crowded ? 1 : 0;
    most_ranks = std::max(most_ranks, one.ranks);
    CHECK(one.what != operation::none);
    CHECK(one.microseconds > 0);
  }
  CHECK(most_ranks == 65536);
  CHECK(static_cast<std::ptrdiff_t>(crowded) == std::ranges::count_if(soft->rows(), &measurement::crowded));
  // Every algorithm of the standard choice is measured if it is meant for one rank per core.
  const std::vector<std::string> alltoalls{"direct", "pairwise", "bruck", "bruck_k<4>", "bruck_k<8>"};
  const auto on = [&](int ranks, std::size_t bytes) {
    for (const auto& r : simulated->rules({operation::alltoall, "rc", ranks, false, true}, alltoalls))
      if (bytes <= r.up_to) return alltoalls[static_cast<std::size_t>(r.algorithm)];
    return std::string{};
  };
  CHECK(on(48, 8) == "bruck_k<8>");
  CHECK(on(1024, 8) == "bruck_k<8>");
  CHECK(on(8, 262144) == "direct");
  const std::vector<std::string> broadcasts{"binomial", "knomial<4>"};
  for (const int ranks : {16, 1024, 65536})
    CHECK(simulated->rules({operation::broadcast, "rc", ranks, false, true}, broadcasts).front().algorithm ==
          1);
  const std::vector<std::string> barriers{"dissemination_k<3>", "multi_object<dissemination_k<3>>"};
  const auto best_barrier = [&](int ranks, int places, int largest) {
    const auto rules =
        simulated->rules({operation::barrier, "rc", ranks, false, true, places, largest}, barriers);
    return barriers[static_cast<std::size_t>(rules.front().algorithm)];
  };
  CHECK(best_barrier(4096, 64, 64) == "multi_object<dissemination_k<3>>");
  CHECK(best_barrier(64, 64, 1) == "dissemination_k<3>");
  for (const char* const name : {"degree_k<15, flat>", "split_level<direct, rabenseifner, direct>"})
    CHECK(std::ranges::any_of(simulated->rows(), [&](const auto& m) { return m.algorithm == name; }));
}

TEST_CASE("an unknown algorithm is chosen only if no other is known", "[tuning]") {
  const tuning_table table{{}, "nothing"};
  const std::vector<std::string> unknown{"mine", "yours"};
  const auto rules = table.rules({operation::allgather, "rc", 4, false}, unknown);
  REQUIRE(rules.size() == 1);
  CHECK(rules[0].algorithm == 0);
  CHECK(rules[0].up_to == unlimited);
  const std::vector<std::string> mixed{"mine", "ring"};
  CHECK(table.rules({operation::allgather, "rc", 4, false}, mixed)[0].algorithm == 1);
  const std::vector<std::string> one{"mine"};
  CHECK(table.rules({operation::allgather, "rc", 4, false}, one).size() == 1);
}

TEST_CASE("contenders are algorithms close to the best, and unknown ones", "[tuning]") {
  const tuning_table table{{row("ring", 64, 9), row("bruck", 64, 5), row("direct", 64, 20),
                            row("ring", 65536, 10), row("bruck", 65536, 31), row("direct", 1 << 20, 1)},
                           "a test"};
  const std::vector<std::string> known{"ring", "bruck", "direct"};
  const auto contenders = [&](std::span<const std::string> of, std::size_t bytes, std::size_t most = 9,
                              int ranks = 4) {
    std::vector<std::string> found;
    for (const int i : table.contenders({operation::allgather, "rc", ranks, false}, of, bytes, 2, most))
      found.push_back(of[static_cast<std::size_t>(i)]);
    return found;
  };
  using list = std::vector<std::string>;
  CHECK(contenders(known, 8) == list{"bruck", "ring"});
  CHECK(contenders(known, 64, 1) == list{"bruck"});
  // `direct` was not measured at 64 KiB, but was the best at the nearest size.
  CHECK(contenders(known, 65536) == list{"ring", "direct"});
  CHECK(contenders(names, 8) == list{"my_own", "bruck", "ring"});
  CHECK(contenders(names, 8, 2) == list{"my_own", "bruck"});
  // Without measurements formulas decide; without a formula any algorithm may be the best.
  CHECK(contenders(known, 8, 9, 64) == list{"bruck"});
  CHECK(contenders(names, 8, 9, 64) == list{"bruck"});
  const std::vector<std::string> unknown{"mine", "yours"};
  CHECK(contenders(unknown, 8) == unknown);
  CHECK(contenders(unknown, 8, 9, 64) == unknown);
}

TEST_CASE("the fingerprint depends on the content", "[tuning]") {
  const tuning_table a{{row("ring", 64, 9)}, "here"};
  const tuning_table b{{row("ring", 64, 9)}, "there"};
  const tuning_table c{{row("ring", 64, 8)}, "here"};
  CHECK(a.fingerprint() == b.fingerprint());
  CHECK(a.fingerprint() != c.fingerprint());
}

TEST_CASE("a table is read from JSON", "[tuning]") {
  if (!support::reads_json()) return;
  const temporary_file good{R"({"tuning": [
    {"operation": "allgather", "transport": "rc", "ranks": 4, "crowded": true, "bytes": 128,
     "microseconds": {"ring": 3.5, "bruck": 2.25}}]})"};
  const auto table = tuning_table::read(good.name);
  REQUIRE(table->rows().size() == 2);
  CHECK(table->rows()[0].what == operation::allgather);
  CHECK(table->rows()[0].crowded);
  CHECK(chosen(table->rules({operation::allgather, "rc", 4, true}, names), 128) == "bruck");
  chorale::config settings;
  settings.tuning = good.name;
  CHECK(tuning_table::of(settings)->fingerprint() == table->fingerprint());
  CHECK(tuning_table::of({}) == tuning_table::built_in());
}

TEST_CASE("a table that cannot be read is refused by name", "[tuning]") {
  if (!support::reads_json()) return;
  struct mistake {
    const char* text;
    const char* said;
  };
  // clang-format off
  const mistake mistakes[]{
      {"", "unexpected end of input"},
      {"{\n\"tuning\": [,]}", "line 2"},
      {"[]", "no object"},
      {R"({"tuning": 3})", "array \"tuning\""},
      {R"({"tuning": [3]})", "row 1 of \"tuning\" (from 1) is no object"},
      {R"({"tuning": [{"operation": "allgather"}]})", "has no \"transport\""},
      {R"({"tuning": [{"operation": "no such"}]})", "'no such', which does not exist"},
      {R"({"tuning": [{"operation": 7}]})", "\"operation\": 7"},
      {R"({"tuning": [{"operation": "\u001b]0;x\u0007"}]})", "'\\x1b]0;x\\x07'"},
  };
  // clang-format on
  for (const auto& [text, said] : mistakes) {
    const temporary_file bad{text};
    INFO(text);
    const auto why = refusal(bad.name);
    INFO(why);
    CHECK(why.find(bad.name.string()) != std::string::npos);
    CHECK(why.find("CHORALE_TUNING") != std::string::npos);
    CHECK(why.find(said) != std::string::npos);
  }
}

TEST_CASE("an invalid field of a table is refused by name", "[tuning]") {
  if (!support::reads_json()) return;
  struct mistake {
    const char* ranks;
    const char* crowded;
    const char* bytes;
    const char* microseconds;
    const char* said;
  };
  const mistake mistakes[]{
      {"0", "true", "1", "1", "\"ranks\": 0"},
      {"-4", "true", "1", "1", "\"ranks\": -4"},
      {"4.5", "true", "1", "1", "\"ranks\": 4.5"},
      {"4294967298", "true", "1", "1", "\"ranks\": 4294967298"},
      {"\"4\"", "true", "1", "1", "\"ranks\": \"4\""},
      {R"(4, "places": 5, "largest": 2)", "true", "1", "1", "\"places\": 5"},
      {R"(4, "places": 2, "largest": 0)", "true", "1", "1", "\"largest\": 0"},
      {R"(4, "places": 2)", "true", "1", "1", "has no \"largest\""},
      {"4", "1", "1", "1", "\"crowded\": 1"},
      {"4", "true", "-1", "1", "\"bytes\": -1"},
      {"4", "true", "0.5", "1", "\"bytes\": 0.5"},
      {"4", "true", "1e3", "1", "\"bytes\": 1000.0"},
      {"4", "true", "18446744073709551617", "1", "\"bytes\": 1.844"},
      {"4", "true", "18446744073709551615", "1", "\"bytes\": 18446744073709551615"},
      {"4", "true", "1", "-1", "\"ring\": -1"},
      {"4", "true", "1", "1e400", "1e400"},
      {"4", "true", "1", "\"fast\"", "\"ring\": \"fast\""},
      {"4", "true", "1", "null", "\"ring\": null"},
  };
  const auto table = [](const mistake& m) {
    return std::string{R"({"tuning": [{"operation": "allgather", "transport": "rc", "ranks": )"} + m.ranks +
           ", \"crowded\": " + m.crowded + ", \"bytes\": " + m.bytes + R"(, "microseconds": {"ring": )" +
           m.microseconds + "}}]}";
  };
  for (const auto& m : mistakes) {
    const temporary_file bad{table(m)};
    INFO(table(m));
    const auto why = refusal(bad.name);
    INFO(why);
    CHECK(why.find(m.said) != std::string::npos);
    CHECK(why.find(bad.name.string()) != std::string::npos);
  }
  const temporary_file good{table({"4", "true", "1024", "1.5", ""})};
  CHECK(tuning_table::read(good.name)->rows().size() == 1);
}

TEST_CASE("anything but a file is refused at once", "[tuning]") {
  if (!support::reads_json()) return;
  const temporary_file fifo{""};
  std::filesystem::remove(fifo.name);
  REQUIRE(mkfifo(fifo.name.c_str(), 0600) == 0);
  CHECK(refusal(fifo.name).find("no regular file") != std::string::npos);
  CHECK(refusal("/").find("it is a folder") != std::string::npos);
  CHECK(refusal("/dev/zero").find("no regular file") != std::string::npos);
  CHECK(refusal("\033[31m").find("'\\x1b[31m'") != std::string::npos);
}

TEST_CASE("the built-in table is well-formed", "[tuning]") {
  for (const auto& r : tuning_table::built_in()->rows()) {
    CHECK(r.what != operation::none);
    CHECK(r.ranks >= 1);
    CHECK(r.microseconds > 0);
    CHECK(!r.algorithm.empty());
  }
}
