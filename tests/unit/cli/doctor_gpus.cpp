// Tests of the checks that `trainrt doctor` makes on GPUs, with fake GPUs.
#include <catch2/catch.hpp>
#include <trainrt/communicators.hpp>

#include "cli/doctor/doctor_check.hpp"
#include "support/cpp/fake_gpus.hpp"

using namespace trainrt;
using namespace trainrt::cli::doctor;
using Catch::Matchers::Contains;

namespace {

/// Runs a check on one rank that sees this number of GPUs.
Finding run_check_with(std::string_view name, int gpus, const std::string& gpus_per_worker = "auto") {
  test::FakeGpus fake(gpus);
  const device::ReplacedRuntime replaced(fake);
  const auto communicator = self_communicator();
  const World world{.node_of_rank = {0}, .launcher = "alone"};
  const Environment environment;
  const auto checks = checks_in_order(true);
  return run_check(find_plugin(PluginTable<Check>(checks), name, "check"),
                   {world, *communicator, environment, {".", gpus_per_worker}});
}

}  // namespace

TEST_CASE("a rank without GPUs is ok, and the finding names the reason") {
  const auto none = run_check_with("cuda", 0);
  CHECK(none.grade == Grade::ok);
  CHECK_THAT(none.text, Contains("no GPU: the test has no GPUs"));
  CHECK(run_check_with("nccl", 0).grade == Grade::ok);
  const auto gpus = run_check_with("gpus", 0);
  CHECK(gpus.grade == Grade::ok);
  CHECK_THAT(gpus.text, Contains("CPU"));
}

TEST_CASE("the findings contain the name and the versions of GPUs, and their number per rank") {
  const auto cuda = run_check_with("cuda", 2);
  CHECK_THAT(cuda.text, Contains("Fake GPU") && Contains("fake"));
  CHECK(cuda.figures.at("gpus").size() == 2);
  CHECK_THAT(run_check_with("gpus", 2).text, Contains("2 GPUs per rank"));
  CHECK_THAT(run_check_with("gpus", 2, "1").text, Contains("1 GPU per rank"));
}

TEST_CASE("a request for more GPUs than a node has is an error with advice") {
  const auto too_many = run_check_with("gpus", 1, "2");
  CHECK(too_many.grade == Grade::error);
  CHECK_THAT(too_many.text, Contains("2 GPUs per worker requested") && Contains("scaling.gpus_per_worker"));
  CHECK_FALSE(too_many.advice.empty());
}
