// SPDX-License-Identifier: Apache-2.0
// A temporary directory for a test.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <string>

#include <catch2/catch.hpp>

namespace test {

/// A directory that is removed at the end.
struct scratch {
  scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "chorale-verbs-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  /// Writes a file below `path` with this text, and creates its folders.
  void write(const std::filesystem::path& file, const std::string& text) const {
    std::filesystem::create_directories((path / file).parent_path());
    std::ofstream{path / file} << text;
  }
  std::filesystem::path path;
};

}  // namespace test
