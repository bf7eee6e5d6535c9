// Tests of writing the status lines of ranks, and of reading them from files that are truncated, invalid or missing.
#include "rundir/records/rank_status.hpp"

#include <random>

#include <catch2/catch.hpp>

#include "io/files/file.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using rundir::RankStatus;

namespace {

RankStatus a_sign(int rank) {
  RankStatus sign{
      .rank = rank, .host = "n2", .time = "2026-11-24T20:17:01Z", .phase = "training", .waits_in = "all-reduce"};
  sign.step = 812;
  sign.quiet_s = 0.25;
  sign.cpu_s = 12.5;
  sign.cpus = 2;
  sign.rss = 123456789;
  sign.peak = 234567890;
  sign.read = 1;
  sign.written = 2;
  sign.gpu = 0.93;
  sign.gpu_memory = 1234;
  sign.energy_j = 5000;
  sign.energy_of = "cpu+gpu";
  sign.age_s = 10;
  sign.cpu_list = "0-1";
  return sign;
}

/// Writes `content` as the status file of attempt 1, and reads it.
std::vector<std::optional<RankStatus>> read(const std::string& content) {
  test::Scratch folder;
  io::make_directory(folder / "logs");
  io::write_file(folder / rundir::rank_statuses_name(1), content);
  return rundir::read_rank_statuses(folder.path(), 1);
}

}  // namespace

TEST_CASE("a rank's line has 512 bytes and is read back as it was written") {
  const auto line = rundir::rank_status_line(a_sign(3));
  CHECK(line.size() == rundir::rank_status_bytes);
  CHECK(line.back() == '\n');
  const auto sign = rundir::rank_status_from(line, 3);
  REQUIRE(sign);
  CHECK(rundir::rank_status_line(*sign) == line);
  CHECK(sign->host == "n2");
  CHECK(sign->waits_in == "all-reduce");
  CHECK(sign->cpu_s == 12.5);
  CHECK(sign->peak == 234567890);
  CHECK(sign->gpu == 0.93);
  CHECK(sign->gpu_memory == 1234);
  CHECK(sign->energy_j == 5000);
  CHECK_FALSE(sign->ended);
}

TEST_CASE("unknown values are not written, and are read as unknown") {
  const auto line = rundir::rank_status_line({.rank = 0});
  for (const auto* key : {"cpu_s", "rss", "peak", "read", "written", "gpu", "energy"})
    CHECK(line.find('"' + std::string(key)) == std::string::npos);
  const auto sign = rundir::rank_status_from(line, 0);
  REQUIRE(sign);
  CHECK(sign->cpu_s == -1);
  CHECK(sign->peak == -1);
  CHECK(sign->written == -1);
  CHECK_FALSE(sign->gpu);
  CHECK_FALSE(sign->energy_j);
}

TEST_CASE("a line has 512 readable bytes with texts of any length and content") {
  const std::string emoji = "\xF0\x9F\x94\xA5";
  for (const std::string& unit : {std::string("x"), emoji, std::string("\x01"), std::string("\xFF"), std::string("\"")}) {
    std::string text;
    while (text.size() < 1000) text += unit;
    auto sign = a_sign(7);
    sign.host = sign.waits_in = sign.phase = sign.cpu_list = sign.time = sign.energy_of = text;
    sign.rss = sign.peak = sign.read = sign.written = INT64_MAX >> 2;
    const auto line = rundir::rank_status_line(sign);
    CHECK(line.size() == rundir::rank_status_bytes);
    const auto again = rundir::rank_status_from(line, 7);
    REQUIRE(again);
    CHECK(again->step == 812);
  }
  auto sign = a_sign(7);
  sign.waits_in = std::string(79, 'x') + emoji;
  CHECK(rundir::rank_status_from(rundir::rank_status_line(sign), 7)->waits_in == std::string(79, 'x'));
}

TEST_CASE("ranks without a valid line are left out, and the others are read") {
  const std::string hole(rundir::rank_status_bytes, '\0');
  const auto line = rundir::rank_status_line(a_sign(2));
  auto signs = read(hole + rundir::rank_status_line(a_sign(7)) + line + line.substr(0, 100));
  REQUIRE(signs.size() == 4);
  CHECK_FALSE(signs[0]);
  CHECK_FALSE(signs[1]);  // another rank's
  REQUIRE(signs[2]);
  CHECK(signs[2]->step == 812);
  CHECK_FALSE(signs[3]);
  CHECK(read("").empty());
  CHECK(rundir::read_rank_statuses("/nowhere", 1).empty());
}

TEST_CASE("invalid numbers are read as unknown") {
  const auto sign = rundir::rank_status_from(
      R"({"rank":0,"host":7,"step":1e300,"cpu_s":null,"cpus":-3,"rss":-5,"peak":"x","gpu":17,"energy_j":-1,"ended":1,"quiet_s":[]})",
      0);
  REQUIRE(sign);
  CHECK(sign->host.empty());
  CHECK(sign->step == 0);
  CHECK(sign->cpu_s == -1);
  CHECK(sign->cpus == 0);
  CHECK(sign->rss == -1);
  CHECK(sign->peak == -1);
  CHECK_FALSE(sign->gpu);
  CHECK_FALSE(sign->energy_j);
  CHECK_FALSE(sign->ended);
}

TEST_CASE("a truncated or changed line is read or left out, and never throws") {
  const auto line = rundir::rank_status_line(a_sign(1));
  std::mt19937 random(7);
  for (std::size_t length = 0; length < line.size(); ++length) {
    rundir::rank_status_from(line.substr(0, length), 1);
    auto changed = line;
    changed[length] = static_cast<char>(random());
    if (const auto sign = rundir::rank_status_from(changed, 1))
      CHECK(rundir::rank_status_line(*sign).size() == line.size());
  }
}
