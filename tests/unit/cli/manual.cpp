// Manual pages: a text is shown as it stands, whatever roff would make of it.
#include "cli/command_line/manual.hpp"

#include <catch2/catch.hpp>

using trainrt::cli::roff;

TEST_CASE("roff takes nothing of a text for a request or an escape") {
  CHECK(roff(".TH\n'br\n...") == "\\&.TH\n\\(aqbr\n\\&...");
  CHECK(roff("a\\fB --key='x*' `y` \"z\" ^~") == "a\\efB \\-\\-key=\\(aqx*\\(aq \\(gay\\(ga \\(dqz\\(dq \\(ha\\(ti");
  CHECK(roff("3.5 and model.h5") == "3.5 and model.h5");
}
