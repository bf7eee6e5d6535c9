#include "rundir/records/excluded_nodes.hpp"

#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::rundir;
using Catch::Matchers::Contains;

namespace {

std::string what_is_said_of(const test::Scratch& folder, const std::string& text) {
  std::ofstream(folder.path() + "/excluded_nodes.json", std::ios::trunc) << text;
  try {
    read_excluded_nodes(folder.path());
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

std::string with_nodes(const std::string& nodes) {
  return R"({"format": "trainrt excluded nodes 1", "nodes": )" + nodes + "}";
}

}  // namespace

TEST_CASE("excluded nodes are read as they were written; a missing file excludes no nodes") {
  const test::Scratch folder;
  CHECK(read_excluded_nodes(folder.path()).empty());
  write_excluded_nodes(folder.path(),
                       std::vector<ExcludedNode>{{"n2", "3 attempts \"ended\" there", 7, "2026-11-24T20:17:01Z"},
                                                 {"gpu-07.local", "slow", 9, "2026-11-24T21:17:01Z"}});
  const auto nodes = read_excluded_nodes(folder.path());
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].why == "3 attempts \"ended\" there");
  CHECK(nodes[0].since_attempt == 7);
  CHECK(nodes[0].time == "2026-11-24T20:17:01Z");
  CHECK(names_of(nodes) == std::vector<std::string>{"n2", "gpu-07.local"});
}

TEST_CASE("a user may remove entries, and add entries that have only a node's name") {
  const test::Scratch folder;
  CHECK(what_is_said_of(folder, with_nodes("[]")).empty());
  CHECK(what_is_said_of(folder, with_nodes(R"([{"node": "n4"}, {"node": "n4", "why": "twice"}])")).empty());
  const auto nodes = read_excluded_nodes(folder.path());
  REQUIRE(nodes.size() == 1);
  CHECK(nodes[0].node == "n4");
  CHECK(nodes[0].since_attempt == 0);
}

TEST_CASE("an invalid file of excluded nodes is an error that names the file, the problem and the fix") {
  const test::Scratch folder;
  std::vector<std::string> wrong = {"", "{", "[]", "{}", with_nodes("3"), std::string(100'000, '[')};
  for (const auto* node : {R"({"why": "no name"})", R"({"node": 3})", R"("n2")", R"({"node": "n[1-3]"})",
                           R"({"node": "n1,n2"})", R"({"node": "--all"})", R"({"node": "`reboot`"})", R"({"node": ""})",
                           R"({"node": "n2", "since_attempt": -1})", R"({"node": "n2", "since_attempt": "x"})"})
    wrong.push_back(with_nodes(fmt::format("[{}]", node)));
  for (const auto& text : wrong) {
    INFO(text.substr(0, 100));
    const auto said = what_is_said_of(folder, text);
    CHECK_THAT(said, Contains(folder.path() + "/excluded_nodes.json") && Contains("or remove it"));
    CHECK(said.size() < 800);
  }
  CHECK_THAT(what_is_said_of(folder, R"({"format": "trainrt excluded nodes 2", "nodes": []})"),
             Contains("its format is \"trainrt excluded nodes 2\"; this version reads \"trainrt excluded nodes 1\""));
}
