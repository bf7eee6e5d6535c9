#include "io/files/line_tail.hpp"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "support/cpp/scratch.hpp"

using namespace trainrt;
using test::Scratch;
using Lines = std::vector<std::string>;

namespace {

void add(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::app) << text; }

}  // namespace

TEST_CASE("each line is read once, when it is complete") {
  const Scratch scratch;
  const auto path = scratch.path() + "/log";
  io::LineTail tail(path, 1000);
  CHECK(tail.read().lines.empty());
  add(path, "one\ntw");
  CHECK(tail.read().lines == Lines{"one"});
  CHECK(tail.read().lines.empty());
  add(path, "o\n\nthree\n");
  const auto news = tail.read();
  CHECK(news.lines == Lines{"two", "", "three"});
  CHECK_FALSE(news.is_new_file);
}

TEST_CASE("only the end of a long file is read, from the first complete line on") {
  const Scratch scratch;
  const auto path = scratch.path() + "/log";
  for (int i = 0; i < 1000; ++i) add(path, "line " + std::to_string(i) + "\n");
  io::LineTail tail(path, 24);
  CHECK(tail.read().lines == Lines{"line 998", "line 999"});
  add(path, "last\n");
  CHECK(tail.read().lines == Lines{"last"});
}

TEST_CASE("a file that was replaced or truncated is read from its beginning") {
  const Scratch scratch;
  const auto path = scratch.path() + "/log";
  add(path, "one\ntwo\n");
  io::LineTail tail(path, 1000);
  CHECK(tail.read().is_new_file);
  add(path + ".new", "one\nother\nmore\n");
  std::filesystem::rename(path + ".new", path);
  const auto replaced = tail.read();
  CHECK(replaced.is_new_file);
  CHECK(replaced.lines == Lines{"one", "other", "more"});
  std::filesystem::resize_file(path, 4);
  CHECK(tail.read().lines == Lines{"one"});
}
