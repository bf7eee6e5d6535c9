// Tests of resource usage, summed over ranks and attempts.
#include "rundir/usage/usage_summary.hpp"

#include <catch2/catch.hpp>

using namespace trainrt;
using rundir::RankStatus;

namespace {

RankStatus sign_of(int rank, const std::string& host, const std::string& cpu_list, double cpu_s) {
  RankStatus sign{.rank = rank, .host = host};
  sign.cpu_s = cpu_s;
  sign.cpus = 2;
  sign.cpu_list = cpu_list;
  sign.age_s = 10;
  sign.peak = 1000 + rank;
  sign.read = 7;
  return sign;
}

}  // namespace

TEST_CASE("CPUs that ranks of a node share count once") {
  CHECK(rundir::usage_of({sign_of(0, "n1", "0-1", 10), sign_of(1, "n1", "0-1", 10)}).cpu_use() == 1.0);
  CHECK(rundir::usage_of({sign_of(0, "n1", "0-1", 10), sign_of(1, "n1", "2-3", 10)}).cpu_use() == 0.5);
  CHECK(rundir::usage_of({sign_of(0, "n1", "0-1", 10), sign_of(1, "n2", "0-1", 10)}).cpu_use() == 0.5);
  CHECK(rundir::usage_of({sign_of(0, "n1", "", 10), sign_of(1, "n1", "nonsense", 10)}).cpu_use() == 0.5);
  CHECK_FALSE(rundir::usage_of({}).cpu_use());
  CHECK(rundir::allowed_cpus({sign_of(0, "n1", "0-1", 10), sign_of(1, "n1", "0-1", 10), std::nullopt}) == 2);
  CHECK(rundir::allowed_cpus({sign_of(0, "n1", "0-1", 10), sign_of(1, "n1", "1-3", 10), sign_of(2, "n2", "0", 10)}) == 5);
  CHECK(rundir::allowed_cpus({sign_of(0, "n1", "", 10), sign_of(1, "n1", "nonsense", 10)}) == 4);
}

TEST_CASE("the usage of an attempt sums over its ranks, and that of a run over its attempts") {
  const auto first = rundir::usage_of({sign_of(0, "n1", "0", 1), std::nullopt, sign_of(2, "n1", "1", 2)});
  CHECK(first.ranks == 2);
  CHECK(first.cpu_s == 3);
  CHECK(first.peak == 1002);
  CHECK(first.peak_rank == 2);
  CHECK(first.read == 14);
  CHECK(first.written == -1);  // unknown on all ranks
  CHECK_FALSE(first.gpu_use());
  CHECK_FALSE(first.energy_j);
  auto with_energy = sign_of(0, "n1", "0", 1);
  with_energy.energy_j = 100;
  with_energy.energy_of = "cpu";
  with_energy.gpu_mean = 0.5;
  const auto all = rundir::sum_of({first, rundir::usage_of({with_energy})});
  CHECK(all.cpu_s == 4);
  CHECK(all.peak_rank == 2);
  CHECK(all.read == 21);
  CHECK(all.energy_j == 100);
  CHECK(all.energy_of == "cpu");
  CHECK(all.gpu_use() == 0.5);
}
