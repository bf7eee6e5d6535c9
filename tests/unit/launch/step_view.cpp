#include "launch/step_view.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace trainrt;
using Catch::Contains;
using launch::StepView;

namespace {

StepView complete() {
  StepView view;
  view.has_step = view.has_pmix = true;
  view.server_folder = "/spool/pmix.1.0";
  view.port = 4242;
  view.security = "munge,native";
  view.user = 1000;
  view.server_version = "4.2.2rc2";
  view.client_version = "OpenPMIx 4.1.0";
  return view;
}

launch::StepGap only_gap(const StepView& view) {
  const auto gaps = launch::gaps_in(view);
  REQUIRE(gaps.size() == 1);
  return gaps.front();
}

}  // namespace

TEST_CASE("a complete step has no gaps, and neither has a process outside of steps and containers") {
  CHECK(launch::gaps_in(complete()).empty());
  CHECK(launch::gaps_in({}).empty());
}

TEST_CASE("each missing part of PMIx is reported with the option that adds it") {
  auto view = complete();
  view.has_pmix = false;
  CHECK_THAT(only_gap(view).remedy, Contains("--mpi=pmix") && Contains("--cleanenv"));
  CHECK(only_gap(view).is_fatal);

  view = complete();
  view.folder_problem = "does not exist here";
  CHECK_THAT(only_gap(view).problem, Contains("/spool/pmix.1.0") && Contains("PMIX_SERVER_TMPDIR"));
  CHECK_THAT(only_gap(view).remedy,
             Contains("--bind /spool/pmix.1.0") && Contains("--container-mounts=/spool/pmix.1.0:/spool/pmix.1.0"));
  CHECK_FALSE(only_gap(view).is_fatal);

  view = complete();
  view.server_listens = false;
  CHECK_THAT(only_gap(view).problem, Contains("port 4242"));
  CHECK(only_gap(view).is_fatal);

  view = complete();
  view.outer_user = 77;
  CHECK_THAT(only_gap(view).problem, Contains("user 1000 in the container and user 77 outside"));

  view = complete();
  view.has_munge = false;
  CHECK_THAT(only_gap(view).remedy, Contains("/run/munge"));
  CHECK_FALSE(only_gap(view).is_fatal);
  view.security = "munge";
  CHECK(only_gap(view).is_fatal);

  view = complete();
  view.client_version = "OpenPMIx 5.0.3";
  CHECK_THAT(only_gap(view).problem, Contains("4.2.2rc2") && Contains("5.0.3"));
}

TEST_CASE("a container without the variables of a step is named, and fatal gaps come first") {
  StepView view;
  view.container = "Apptainer";
  CHECK_THAT(only_gap(view).problem, Contains("Apptainer"));
  view.container = "Docker";
  CHECK(launch::gaps_in(view).empty());

  view = complete();
  view.folder_problem = "is read-only here";
  view.outer_user = 0;
  const auto gaps = launch::gaps_in(view);
  REQUIRE(gaps.size() == 2);
  CHECK(gaps.front().is_fatal);
}

TEST_CASE("the port of the PMIx server is read from its address") {
  CHECK(launch::port_of_server("pmix-server.28781;tcp4://127.0.0.1:58999") == 58999);
  CHECK(launch::port_of_server("x;tcp6://[fe80::1]:80") == 80);
  for (const auto* address : {"", "no port", "a:b", "tcp4://1.2.3.4:999999"}) CHECK(launch::port_of_server(address) == 0);
}
