// Tests of reading the records that the ranks of an attempt wrote.
#include "view/page/rank_usage.hpp"

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "rundir/records/rank_status.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::view::page;
using test::Scratch;

TEST_CASE("ranks without a complete record are left out") {
  const Scratch folder;
  std::filesystem::create_directories(folder.path() + "/logs");
  std::ofstream file(folder.path() + "/" + rundir::rank_statuses_name(2), std::ios::binary);
  const auto put = [&](std::string line) {
    line.resize(511, ' ');
    file << line << '\n';
  };
  put(R"({"rank":0,"host":"n1","cpu_s":2.5,"peak":100,"gpu":null,"ended":true})");
  file << std::string(512, '\0');
  put(R"({"rank":2,"host":"n2","phase":"training","step":7})");
  put(R"({"rank":18446744073709551615})");
  file << R"({"rank":3,"ho)";
  file.close();
  const auto ranks = rank_usages_of(folder.path(), {.number = 2});
  REQUIRE(ranks.size() == 2);
  CHECK((ranks[0].rank == 0 && ranks[0].cpu_s == 2.5 && !ranks[0].gpu && ranks[0].ended));
  CHECK((ranks[1].rank == 2 && ranks[1].step == 7 && !ranks[1].peak));
  CHECK(rank_usages_of(folder.path(), {.number = 1}).empty());
}
