#include "core/text/display_width.hpp"

#include <catch2/catch.hpp>

using namespace trainrt;

TEST_CASE("columns are counted as a terminal shows them: wide characters take two, combining marks none") {
  CHECK(columns_of("loss") == 4);
  CHECK(columns_of("añb") == 3);
  CHECK(columns_of("an\u0303b") == 3);
  CHECK(columns_of("学習") == 4);
  CHECK(columns_of("🙂x") == 3);
  CHECK(columns_of("▁█") == 2);
}

TEST_CASE("a text is cut between characters, and never wider than asked") {
  CHECK(cut_to("学習x", 3) == "学");
  CHECK(cut_to("学習x", 4) == "学習");
  CHECK(fitted("学習x", 3) == "学 ");
  CHECK(fitted("ab", 4) == "ab  ");
  CHECK(fitted("ab", 0).empty());
}

TEST_CASE("control characters and what is no UTF-8 become harmless, and nothing else") {
  CHECK(plain_text("a\x1b[2Jb\n") == "a [2Jb ");
  CHECK(plain_text("\xff"
                   "abc\xe5\xad") == "?abc??");
  CHECK(plain_text("\xc2\x9b"
                   "1m学") == " 1m学");
}

TEST_CASE("ASCII keeps the columns") { CHECK(ascii_of("a学▁") == "a???"); }
