// Reads logs/ranks-attempt-000003.jsonl: the position and resource use of each rank.
#include "rundir/records/rank_status.hpp"

#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

namespace {

rundir::RankStatus a_sign() {
  rundir::RankStatus sign{.rank = 1, .host = "n2", .time = "2026-11-24T20:17:01Z", .phase = "training", .waits_in = "all"};
  sign.cpu_s = 12.5;
  sign.rss = sign.peak = sign.read = sign.written = 4096;
  sign.gpu = sign.gpu_mean = 0.5;
  sign.gpu_memory = 7;
  sign.energy_j = 5;
  sign.energy_of = "cpu+gpu";
  sign.cpu_list = "0-3,8";
  return sign;
}

}  // namespace

std::vector<std::string> seeds() {
  const auto line = rundir::rank_status_line(a_sign());
  return {line,
          rundir::rank_status_line({.rank = 1}),
          with_number(line, "step", "1e300"),
          with_number(line, "cpus", "18446744073709551615"),
          with_number(line, "peak", "-1e300"),
          std::string(rundir::rank_status_bytes, '\0'),
          "{}",
          "[]",
          deep_json()};
}

std::vector<std::string> words() {
  return {"\"rank\"", "\"host\"", "\"step\"", "\"phase\"", "\"quiet_s\"",  "\"waits_in\"", "\"cpu_s\"",
          "\"cpus\"", "\"rss\"",  "\"peak\"", "\"ended\"", "\"energy_j\"", "\"gpu\"",      "\"gpu_memory\"",
          "1e300",    "-1",       "null",     "\"age_s\"", "true",         "\\u0000",      "\"cpu_list\""};
}

void read(const std::string& input) {
  const auto sign = rundir::rank_status_from(input, 1);
  if (!sign) return;
  const auto line = rundir::rank_status_line(*sign);
  require(line.size() == rundir::rank_status_bytes, "a line has its length");
  const auto again = rundir::rank_status_from(line, 1);
  require(again && rundir::rank_status_line(*again) == line, "a status that was read is written and read again unchanged");
}

}  // namespace trainrt::fuzz
