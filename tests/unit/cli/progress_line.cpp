#include "cli/terminal/progress_line.hpp"

#include <catch2/catch.hpp>

using namespace trainrt::cli;

TEST_CASE("progress is a bar on a terminal and a line per minute in a log") {
  CHECK(progress_in_bytes(1288490188, 2576980377) == "1.2 of 2.4 GiB");
  double now = 0;
  std::string screen;
  const auto run = [&](bool terminal, bool quiet) {
    screen.clear();
    now = 0;
    ProgressLine progress(
        "verify", quiet,
        {.terminal = terminal, .write = [&](std::string_view text) { screen += text; }, .now = [&] { return now; }});
    for (std::uint64_t done = 0; done <= 150; ++done, now += 1) progress.show(done << 20, 150 << 20);
  };
  run(true, false);
  CHECK_THAT(screen, Catch::Contains("\rverify  [##########----------]  50%  75.0 of 150.0 MiB\x1b[K"));
  CHECK_THAT(screen, Catch::EndsWith("\r\x1b[K"));
  run(false, false);
  CHECK(
      screen ==
      "verify  [########------------]  40%  60.0 of 150.0 MiB\nverify  [################----]  80%  120.0 of 150.0 MiB\n");
  run(true, true);
  CHECK(screen.empty());
}
