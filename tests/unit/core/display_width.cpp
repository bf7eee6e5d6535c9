#include "core/text/display_width.hpp"

#include <catch2/catch.hpp>

using namespace trainrt;

TEST_CASE("display_width counts wide characters as two columns and combining marks as zero") {
  CHECK(display_width("loss") == 4);
  CHECK(display_width("añb") == 3);
  CHECK(display_width("an\u0303b") == 3);
  CHECK(display_width("学習") == 4);
  CHECK(display_width("🙂x") == 3);
  CHECK(display_width("▁█") == 2);
}

TEST_CASE("a text is cut between characters and fits the requested width") {
  CHECK(cut_to_width("学習x", 3) == "学");
  CHECK(cut_to_width("学習x", 4) == "学習");
  CHECK(padded_to_width("学習x", 3) == "学 ");
  CHECK(padded_to_width("ab", 4) == "ab  ");
  CHECK(padded_to_width("ab", 0).empty());
}

TEST_CASE("plain_text replaces control characters and invalid UTF-8 only") {
  CHECK(plain_text("a\x1b[2Jb\n") == "a [2Jb ");
  CHECK(plain_text("\xff"
                   "abc\xe5\xad") == "?abc??");
  CHECK(plain_text("\xc2\x9b"
                   "1m学") == " 1m学");
}

TEST_CASE("ascii_of keeps the width of a text") { CHECK(ascii_of("a学▁") == "a???"); }
