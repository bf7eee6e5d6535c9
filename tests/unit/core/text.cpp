#include "core/text/text.hpp"

#include <catch2/catch.hpp>

#include "core/short_number.hpp"

using namespace trainrt;

TEST_CASE("stable_hash is FNV-1a") {
  CHECK(stable_hash("") == 0xcbf29ce484222325);
  CHECK(stable_hash("a") == 0xaf63dc4c8601ec8c);
  CHECK(stable_hash("foobar") == 0x85944171f73967e8);
}

TEST_CASE("seconds are shown as hours, minutes and seconds") {
  CHECK(clock_text(0) == "0:00:00");
  CHECK(clock_text(3723.4) == "1:02:03");
  CHECK(clock_text(59.6) == "0:01:00");
  CHECK(clock_text(26 * 3600) == "26:00:00");
  CHECK(clock_text(-1) == "0:00:00");
}

TEST_CASE("printable_lines escapes control characters and invalid UTF-8") {
  using Lines = std::vector<std::string>;
  CHECK(printable_lines("one") == Lines{"one"});
  CHECK(printable_lines("") == Lines{""});
  CHECK(printable_lines("one\r\n\ntwo\n") == Lines{"one", "", "two"});
  CHECK(printable_lines("a\tb") == Lines{"a\tb"});
  CHECK(printable_lines("\x1b[2J\x7f 50 %\r60 %") == Lines{R"(\x1b[2J\x7f 50 %\x0d60 %)"});
  CHECK(printable_lines("\xc3\xb6 \xc2\x9b; \xff \xe2\x82") == Lines{"\xc3\xb6 "
                                                                     R"(\xc2\x9b; \xff \xe2\x82)"});
  CHECK(printable_lines(std::string_view("a\0b", 3)) == Lines{R"(a\x00b)"});
}

TEST_CASE("counted uses the singular for one") {
  CHECK(counted(0, "step") == "0 steps");
  CHECK(counted(1, "step") == "1 step");
  CHECK(counted(2, "step") == "2 steps");
}

TEST_CASE("excerpt returns a short text unchanged") {
  CHECK(excerpt("") == "");
  CHECK(excerpt("abc", 3) == "abc");
  CHECK(excerpt(std::string(300, 'x')).size() == 300);
}

TEST_CASE("excerpt returns the beginning of a long text with its length") {
  CHECK(excerpt("abcdef", 3) == "abc... (6 bytes)");
  CHECK(excerpt(std::string(1'000'000, 'x')).size() < 330);
}

TEST_CASE("excerpt does not split a character") {
  CHECK(excerpt("ab\u00e9cd", 3) == "ab... (6 bytes)");
  CHECK(excerpt("\xbf\xbf\xbf\xbf", 2) == "... (4 bytes)");
}

TEST_CASE("a short number has at most six significant digits, and other texts are unchanged") {
  CHECK(short_number("0.02668788467563948") == "0.0266879");
  CHECK(short_number("0.00043238622323948207") == "0.000432386");
  CHECK(short_number("123456789.25") == "1.23457e+08");
  for (const std::string text : {"1e-4", "0.1", "12345678", "-0.25", "adamw", "", "1.5 GiB", "inf"}) {
    CAPTURE(text);
    CHECK(short_number(text) == text);
  }
}

TEST_CASE("nearest allows one edit in a short word, and two or more in a longer one") {
  const std::vector<std::string> names{"top", "csv", "h5", "train", "checkpoint"};
  CHECK(nearest("foo", names).empty());
  CHECK(nearest("foot", names).empty());  // a short candidate
  CHECK(nearest("x", names).empty());     // one substitution would replace the whole word
  CHECK(nearest("", names).empty());
  CHECK(nearest("cvs", names) == "csv");
  CHECK(nearest("tp", names) == "top");
  CHECK(nearest("h6", names) == "h5");
  CHECK(nearest("trian", names) == "train");
  CHECK(nearest("tarin", names) == "train");
  CHECK(nearest("chekpiont", names) == "checkpoint");
}

TEST_CASE("the candidate with the fewest edits is the nearest one") {
  CHECK(nearest("trian", std::vector<std::string>{"trains", "trial", "train"}) == "trial");  // both have one edit
  CHECK(nearest("trian", std::vector<std::string>{"trains", "train", "trial"}) == "train");
  CHECK(nearest("losss", std::vector<std::string>{"acc", "loss", "losses"}) == "loss");
}
