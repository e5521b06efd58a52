// Text from outside, as it may stand in errors.
#include "../../lib/core/printable.hpp"

#include <string>

#include <catch2/catch.hpp>

using chorale::printable;

TEST_CASE("text that can be printed stays as it is", "[printable]") {
  CHECK(printable("").empty());
  CHECK(printable("mlx5_0: a 'name' with \\ and %") == "mlx5_0: a 'name' with \\ and %");
  CHECK(printable("Gr\xc3\xb6\xc3\x9f"
                  "e \xe6\xbc\xa2 \xf0\x9f\x98\x80") ==
        "Gr\xc3\xb6\xc3\x9f"
        "e \xe6\xbc\xa2 \xf0\x9f\x98\x80");
}

TEST_CASE("what a terminal would obey is made visible", "[printable]") {
  CHECK(printable("\x1b]0;title\x07") == "\\x1b]0;title\\x07");
  CHECK(printable("one\ntwo\r\t") == "one\\x0atwo\\x0d\\x09");
  CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(printable("\x7f") == "\\x7f");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\xc2\\x9b31m");  // the C1 form of ESC [
  CHECK(printable("\xe2\x80\xae"
                  "abc") == "\\xe2\\x80\\xaeabc");  // writes backwards from here on
}

TEST_CASE("bytes that are no UTF-8 are made visible", "[printable]") {
  CHECK(printable("\xff\xfe") == "\\xff\\xfe");
  CHECK(printable("\xc3") == "\\xc3");           // cut short
  CHECK(printable("\xc0\x9b") == "\\xc0\\x9b");  // ESC in two bytes
  CHECK(printable("\xe0\x80\x9b") == "\\xe0\\x80\\x9b");
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
}

TEST_CASE("long text is cut, and says so", "[printable]") {
  CHECK(printable("abcdef", 6) == "abcdef");
  CHECK(printable("abcdef", 3) == "abc... (6 bytes)");
  CHECK(printable(std::string(100'000, 'x')).size() < 600);
}
