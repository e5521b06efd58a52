// SPDX-License-Identifier: Apache-2.0
// Untrusted text in errors.
#include "../../lib/core/printable.hpp"

#include <cstdio>
#include <string>

#include <catch2/catch.hpp>

#include <chorale/core/error.hpp>

using chorale::printable;

TEST_CASE("printable text is unchanged", "[printable]") {
  CHECK(printable("").empty());
  CHECK(printable("mlx5_0: a 'name' with \\ and %") == "mlx5_0: a 'name' with \\ and %");
  CHECK(printable("Gr\xc3\xb6\xc3\x9f"
                  "e \xe6\xbc\xa2 \xf0\x9f\x98\x80") ==
        "Gr\xc3\xb6\xc3\x9f"
        "e \xe6\xbc\xa2 \xf0\x9f\x98\x80");
}

TEST_CASE("control characters are made visible", "[printable]") {
  CHECK(printable("\x1b]0;title\x07") == "\\x1b]0;title\\x07");
  CHECK(printable("one\ntwo\r\t") == "one\\x0atwo\\x0d\\x09");
  CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(printable("\x7f") == "\\x7f");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\xc2\\x9b31m");  // the C1 form of ESC [
  CHECK(printable("\xe2\x80\xae"
                  "abc") == "\\xe2\\x80\\xaeabc");  // writes backwards from here on
}

TEST_CASE("invalid UTF-8 is made visible", "[printable]") {
  CHECK(printable("\xff\xfe") == "\\xff\\xfe");
  CHECK(printable("\xc3") == "\\xc3");           // cut short
  CHECK(printable("\xc0\x9b") == "\\xc0\\x9b");  // ESC in two bytes
  CHECK(printable("\xe0\x80\x9b") == "\\xe0\\x80\\x9b");
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
}

TEST_CASE("long text is truncated with a note", "[printable]") {
  CHECK(printable("abcdef", 6) == "abcdef");
  CHECK(printable("abcdef", 3) == "abc... (6 bytes)");
  CHECK(printable(std::string(100'000, 'x')).size() < 600);
}

TEST_CASE("an error makes control characters visible and keeps line breaks", "[printable]") {
  const chorale::error e{chorale::errc::peer_lost, "rank 2 says \x1b[2J\n\tand \x9b", {2}};
  CHECK(e.reason() == "rank 2 says \\x1b[2J\n\tand \\x9b");
  CHECK(std::string{e.what()} == e.reason() + ": peer lost");
}

TEST_CASE("say() makes control characters visible", "[printable]") {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  chorale::say(file, "device {}:\n\t{}\n", "\x1b]0;title\x07", std::string(600, '\x7f'));
  std::rewind(file);
  std::string said(4000, ' ');
  said.resize(std::fread(said.data(), 1, said.size(), file));
  std::fclose(file);
  std::string many;
  for (int i = 0; i < 600; ++i) many += "\\x7f";
  CHECK(said == "device \\x1b]0;title\\x07:\n\t" + many + "\n");
}
