#include "batch/other_nodes.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "batch/slurm_job.hpp"

using namespace trainrt::batch;

namespace {

// Output of Slurm 22.05.8; a node of several partitions is listed several times.
constexpr const char* partition =
    "n1 allocated ib,skylake 8 gpu:a100:4\n"
    "n1 allocated ib,skylake 8 gpu:a100:4\n"
    "n2 mixed ib,skylake 8 gpu:a100:4\n"
    "n3 idle~ ib,skylake 8 gpu:a100:4\n"
    "n4 down* ib,skylake 8 gpu:a100:4\n"
    "n5 drained ib,skylake 8 gpu:a100:4\n"
    "n6 idle* ib,skylake 8 gpu:a100:4\n"
    "n7 idle (null) 64 (null)\n";

JobFacts job_of(int nodes) { return {.state = "RUNNING", .reason = "None", .node_count = nodes, .partition = "main"}; }

std::string why(const JobFacts& job, const std::vector<std::string>& excluded) {
  return why_no_other_nodes(job, parse_partition(partition), excluded);
}

}  // namespace

TEST_CASE("a requeued job gets other nodes if its partition has enough allocatable nodes of the same kind") {
  CHECK(parse_partition(partition).size() == 7);
  CHECK(parse_partition("").empty());
  CHECK(parse_partition("n1\n\nslurm_load_partitions: error\n").size() ==
        1);  // the error line looks like a node, but is not one of the job
  CHECK(why(job_of(2), {"n2"}).empty());
  CHECK(why(job_of(3), {"n2"}) == "partition main has 2 other nodes of this kind, but the job needs 3");
  CHECK(why(job_of(2), {"n1", "n2"}) == "partition main has 1 other node of this kind, but the job needs 2");
  CHECK(why(job_of(1), {"n7"}) == "partition main has 0 other nodes of this kind, but the job needs 1");
  CHECK(why(job_of(1), {"n9"}) == "partition main has 0 other nodes of this kind, but the job needs 1");
}

TEST_CASE("a job that may not be requeued, or requests nodes by name, gets no other nodes") {
  auto fixed = job_of(1);
  fixed.may_requeue = false;
  CHECK(why(fixed, {"n2"}) == "the job may not be requeued (sbatch --requeue)");
  auto named = job_of(1);
  named.requested_nodes = "n[1-2]";
  CHECK(why(named, {"n2"}) == "the job requests its nodes by name (sbatch --nodelist)");
}
