// A directory of a test's own.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <string>

#include <catch2/catch.hpp>

namespace test {

/// Removed at the end.
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
  /// A file below `path` with this text, and the folders that it lies in.
  void write(const std::filesystem::path& file, const std::string& text) const {
    std::filesystem::create_directories((path / file).parent_path());
    std::ofstream{path / file} << text;
  }
  std::filesystem::path path;
};

}  // namespace test
