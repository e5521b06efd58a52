// SPDX-License-Identifier: Apache-2.0
// Checks that the list of algorithms is complete.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <catch2/catch.hpp>

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace

TEST_CASE("every algorithm of the library is on its list", "[lists]") {
  const std::filesystem::path root{CHORALE_SOURCE_ROOT};
  const std::string list = text_of(root / "include/chorale/algorithm/every_algorithm.hpp");
  const auto folder = root / "include/chorale/algorithm";
  int found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
    if (!entry.is_regular_file() || entry.path().parent_path() == folder) continue;
    const std::string text = text_of(entry.path());
    if (entry.path().extension() != ".hpp" ||
        (text.find("implements = ") == std::string::npos && text.find("automatic<") == std::string::npos))
      continue;
    ++found;
    const std::string operation = entry.path().parent_path().filename();
    const std::string name = entry.path().stem();
    INFO("include/chorale/algorithm/every_algorithm.hpp lacks " << operation << "::" << name);
    CHECK(list.find("chorale/algorithm/" + operation + "/" + name + ".hpp") != std::string::npos);
    CHECK(list.find(operation + "::" + name) != std::string::npos);
  }
  CHECK(found > 40);
}
