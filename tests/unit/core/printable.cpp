#include "core/text/printable.hpp"

#include <catch2/catch.hpp>

using namespace trainrt;

namespace {

const std::string csi = "\xc2\x9b";             // U+009B, which means ESC [
const std::string reordering = "\xe2\x80\xae";  // U+202E, right-to-left override

}  // namespace

TEST_CASE("printable_text keeps lines and escapes control characters") {
  CHECK(printable_text("one\n\ttwo\n") == "one\n\ttwo\n");
  CHECK(printable_text("") == "");
  CHECK(printable_text("größer 学習 🙂") == "größer 学習 🙂");
  CHECK(printable_text("\x1b]0;title\a\x1b[2J") == R"(\x1b]0;title\x07\x1b[2J)");
  CHECK(printable_text("\r50 %") == R"(\x0d50 %)");
  CHECK(printable_text(csi + "31m" + reordering + "\xff") == R"(\xc2\x9b31m\xe2\x80\xae\xff)");
}

TEST_CASE("printable_line returns one line") {
  CHECK(printable_line("a\nb\n\nc") == R"(a\nb\n\nc)");
  CHECK(printable_line("a\x1b"
                       "b") == R"(a\x1bb)");
}

TEST_CASE("printable_json returns JSON of the same value") {
  CHECK(printable_json(R"({"a": "größer"})") == R"({"a": "größer"})");
  CHECK(printable_json("\"" + csi + "\x7f" + reordering + "\xe2\x81\xa6\xe2\x80\xa6\"") ==
        "\"\\u009b\\u007f\\u202e\\u2066\xe2\x80\xa6\"");
  CHECK(printable_json("\"\xc2\"") == "\"\xc2\"");
}
