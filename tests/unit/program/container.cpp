#include "program/environments/container.hpp"

#include <catch2/catch.hpp>

using trainrt::Variables;
using trainrt::program::show_in_containers;

TEST_CASE("folders of a program are added to those of the user, unless containers show them by default") {
  Variables variables = {{"HOME", "/home/me"}, {"APPTAINER_BINDPATH", "/mine,/b:/c"}};
  show_in_containers({"/lustre/runs/a", "/home/me/runs", "/tmp/x", "/tmpx", "", "/a,b", "/a:b"}, variables);
  CHECK(variables.at("APPTAINER_BINDPATH") == "/mine,/b:/c,/lustre/runs/a,/tmpx");
  CHECK(variables.at("SINGULARITY_BINDPATH") == "/lustre/runs/a,/tmpx");
  Variables nothing;
  show_in_containers({"/tmp", "/var/tmp/x"}, nothing);
  CHECK(nothing.empty());
}
