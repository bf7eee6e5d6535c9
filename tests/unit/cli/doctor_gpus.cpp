// What `trainrt doctor` says of GPUs, with some that are made up.
#include <catch2/catch.hpp>
#include <trainrt/communicators.hpp>

#include "cli/doctor/doctor_check.hpp"
#include "support/cpp/fake_gpus.hpp"

using namespace trainrt;
using namespace trainrt::cli::doctor;
using Catch::Matchers::Contains;

namespace {

/// One rank alone that sees so many GPUs.
Finding run_check(std::string_view name, int gpus, const std::string& gpus_per_worker = "auto") {
  test::FakeGpus fake(gpus);
  const device::ReplacedRuntime replaced(fake);
  const auto communicator = self_communicator();
  const World world{.node_of_rank = {0}, .launcher = "alone"};
  const Environment environment;
  return find_plugin(check_table(), name, "check").run({world, *communicator, environment, {".", gpus_per_worker}});
}

}  // namespace

TEST_CASE("no GPU is a plain statement with its reason") {
  const auto none = run_check("cuda", 0);
  CHECK(none.grade == Grade::ok);
  CHECK_THAT(none.text, Contains("no GPU: the test has no GPUs"));
  CHECK(run_check("nccl", 0).grade == Grade::ok);
  const auto gpus = run_check("gpus", 0);
  CHECK(gpus.grade == Grade::ok);
  CHECK_THAT(gpus.text, Contains("CPU"));
}

TEST_CASE("GPUs are told by name, versions and number a rank") {
  const auto cuda = run_check("cuda", 2);
  CHECK_THAT(cuda.text, Contains("Fake GPU") && Contains("fake"));
  CHECK(cuda.figures.at("gpus").size() == 2);
  CHECK_THAT(run_check("gpus", 2).text, Contains("2 GPUs a rank"));
  CHECK_THAT(run_check("gpus", 2, "1").text, Contains("1 GPU a rank"));
}

TEST_CASE("more GPUs a worker than there are is an error that says what to do") {
  const auto too_many = run_check("gpus", 1, "2");
  CHECK(too_many.grade == Grade::error);
  CHECK_THAT(too_many.text, Contains("2 GPUs per worker requested") && Contains("scaling.gpus_per_worker"));
  CHECK_FALSE(too_many.advice.empty());
}
