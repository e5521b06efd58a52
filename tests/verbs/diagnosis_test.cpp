// SPDX-License-Identifier: Apache-2.0
// Remarks about the machine: the limit on locked memory, devices that libibverbs does not show.
#include "../../lib/verbs/diagnosis.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "scratch.hpp"

using Catch::Contains;
using namespace chorale::verbs;
using test::scratch;
namespace fs = std::filesystem;

TEST_CASE("the limit on locked memory") {
  CHECK_FALSE(memlock_remark(UINT64_MAX, false));
  CHECK_FALSE(memlock_remark(64 << 20, false));
  CHECK_FALSE(memlock_remark(65536, true));
  const auto remark = memlock_remark(65536, false);
  REQUIRE(remark);
  CHECK_THAT(*remark, Contains("65536 bytes") && Contains("ulimit -l"));

  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_MEMLOCK, &before) == 0);
  if (before.rlim_max == RLIM_INFINITY || before.rlim_max >= 4096) {
    rlimit low{.rlim_cur = 4096, .rlim_max = before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_MEMLOCK, &low) == 0);
    CHECK(memlock_limit() == 4096);
    CHECK_THAT(memlock_remedy(), Contains("RLIMIT_MEMLOCK is 4096 bytes"));
    REQUIRE(setrlimit(RLIMIT_MEMLOCK, &before) == 0);
  }
  if (geteuid() != 0) CHECK_FALSE(memlock_exempt());
}

TEST_CASE("devices of the kernel that libibverbs does not show") {
  const scratch here;
  const fs::path sysfs = here.path / "sys";
  const fs::path nodes = here.path / "dev";
  CHECK(hidden_device_remarks({}, sysfs, nodes).empty());  // no RDMA subsystem
  const auto add = [&](const std::string& name, const std::string& node) {
    fs::create_directories(sysfs / "infiniband" / name);
    if (node.empty()) return;
    fs::create_directories(sysfs / "infiniband_verbs" / node);
    std::ofstream(sysfs / "infiniband_verbs" / node / "ibdev") << name << '\n';
  };
  add("a_shown", "uverbs0");
  add("b_no_node", "uverbs1");
  add("c_no_module", "");
  add("d_no_provider", "uverbs3");
  fs::create_directories(nodes);
  std::ofstream(nodes / "uverbs3").put('x');
  const auto remarks = hidden_device_remarks({{.name = "a_shown"}}, sysfs, nodes);
  REQUIRE(remarks.size() == 3);
  CHECK_THAT(remarks[0], Contains("b_no_node") && Contains("uverbs1 is not there"));
  CHECK_THAT(remarks[1], Contains("c_no_module") && Contains("ib_uverbs"));
  CHECK_THAT(remarks[2], Contains("d_no_provider") && Contains("ibverbs-providers"));
  if (geteuid() == 0) {
    std::cerr << "no permission on a device node: not tested as root, who has it anyway\n";
    return;
  }
  fs::permissions(nodes / "uverbs3", fs::perms::none);
  CHECK_THAT(hidden_device_remarks({{.name = "a_shown"}}, sysfs, nodes).at(2),
             Contains("d_no_provider") && Contains("may not open"));
}
