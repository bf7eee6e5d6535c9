// Tests of reading the lines of a file, and of excerpts from the files of failed attempts.
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "support/cpp/scratch.hpp"
#include "view/summary/failure_excerpts.hpp"
#include "view/summary/file_lines.hpp"

using namespace trainrt;
using namespace trainrt::view;
using test::Scratch;

TEST_CASE("lines of any length are read, also a last line without a newline") {
  const Scratch folder;
  const auto path = folder.path() + "/lines";
  const std::string longest(3'000'000, 'x');
  std::ofstream(path) << "a\n\n" << longest << "\nend";
  std::vector<std::string> lines;
  for_each_line(path, [&](std::string_view line) { lines.emplace_back(line); });
  CHECK(lines == std::vector<std::string>{"a", "", longest, "end"});
}

TEST_CASE("excerpts are the ends of error.txt and of the output of failed attempts") {
  const Scratch folder;
  std::filesystem::create_directories(folder.path() + "/logs");
  std::ofstream(folder.path() + "/error.txt") << "it failed\n";
  std::ofstream log(folder.path() + "/logs/rank-00000.log");
  for (int i = 0; i < 5000; ++i) log << "line " << i << "\n";
  log.close();
  RunSummary run;
  run.run_dir = folder.path();
  CHECK(failure_excerpts(run).size() == 1);  // error.txt only, since no attempt failed
  run.attempts = {{.number = 1, .end = "2026-11-24T20:17:01Z", .why = "killed: x"}};
  const auto excerpts = failure_excerpts(run);
  REQUIRE(excerpts.size() == 2);
  CHECK((excerpts[1].file == "logs/rank-00000.log" && excerpts[1].is_cut && excerpts[1].text.size() <= 6000));
  CHECK_THAT(excerpts[1].text, Catch::Matchers::StartsWith("line ") && Catch::Matchers::EndsWith("line 4999\n"));
}
