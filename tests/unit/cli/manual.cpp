#include "cli/command_line/manual.hpp"

#include <catch2/catch.hpp>

using trainrt::cli::roff;

TEST_CASE("roff prints an escaped text unchanged") {
  CHECK(roff(".TH\n'br\n...") == "\\&.TH\n\\(aqbr\n\\&...");
  CHECK(roff("a\\fB --key='x*' `y` \"z\" ^~") == "a\\efB \\-\\-key=\\(aqx*\\(aq \\(gay\\(ga \\(dqz\\(dq \\(ha\\(ti");
  CHECK(roff("3.5 and model.h5") == "3.5 and model.h5");
}
