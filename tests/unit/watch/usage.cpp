// Tests of measuring the resources that a process and its children use, and the energy that its node uses.
#include "watch/usage.hpp"

#include <chrono>
#include <ctime>
#include <filesystem>
#include <thread>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "core/host.hpp"
#include "core/process/processes.hpp"
#include "io/files/file.hpp"
#include "support/cpp/scratch.hpp"
#include "watch/energy.hpp"

using namespace trainrt;

namespace {

constexpr std::size_t planted_bytes = 64 << 20;

void burn(double seconds) {
  const auto begun = std::clock();
  while (static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC < seconds) {
  }
}

/// A child that uses `seconds` of CPU time and `planted_bytes` of memory, then writes to the pipe and waits for end().
struct BusyChild {
  explicit BusyChild(double seconds) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    pid = fork();
    if (pid == 0) {
      void* const memory =
          mmap(nullptr, planted_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      burn(seconds);
      if (memory == MAP_FAILED || write(ends[1], "x", 1) != 1) _exit(1);
      pause();
    }
    char byte = 0;
    REQUIRE(read(ends[0], &byte, 1) == 1);
    close(ends[0]);
    close(ends[1]);
  }
  void end() const {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  pid_t pid = -1;
};

class Rapl {
  test::Scratch folder_;

 public:
  Rapl() {
    add("intel-rapl:0", "package-0", 900);
    add("intel-rapl:0:0", "dram", 100);
    add("intel-rapl:0:1", "core", 500);
    add("intel-rapl:1", "psys", 5000);
  }
  void add(const std::string& zone, const std::string& name, long energy_uj) {
    io::make_directories(folder_ / zone);
    io::replace_file(folder_ / zone + "/name", name + "\n");
    io::replace_file(folder_ / zone + "/max_energy_range_uj", "1000\n");
    io::replace_file(folder_ / zone + "/energy_uj", std::to_string(energy_uj) + "\n");
  }
  const std::string& root = folder_.path();
};

}  // namespace

TEST_CASE("the resources of a child count once, while it runs and after it has ended") {
  watch::UsageMeter meter(monotonic_seconds());
  const BusyChild child(0.5);
  const auto running = meter.sample();
  CHECK(running.cpu_s >= 0.45);
  CHECK(running.cpu_s < 0.95);
  CHECK(running.rss >= static_cast<std::int64_t>(planted_bytes));
  CHECK(running.peak >= static_cast<std::int64_t>(planted_bytes));
  child.end();
  const auto ended = meter.sample();
  CHECK(ended.cpu_s >= running.cpu_s);
  CHECK(ended.cpu_s < 0.95);
  CHECK(ended.rss < running.rss);
  CHECK(ended.peak >= running.peak);
}

TEST_CASE("resources used before the meter was created do not count") {
  burn(0.3);
  watch::UsageMeter meter(monotonic_seconds());
  CHECK(meter.sample().cpu_s < 0.2);
}

TEST_CASE("resources used since the start of the process count if the attempt began with it") {
  burn(0.3);
  const auto process_start_s = monotonic_seconds() - seconds_since_process_start();
  CHECK(watch::UsageMeter(process_start_s).sample().cpu_s >= 0.25);
}

TEST_CASE("energy is the sum of packages and their memory, also if a counter has wrapped") {
  Rapl rapl;
  watch::EnergyMeter meter(rapl.root);
  CHECK(meter.sample() == 0);
  rapl.add("intel-rapl:0", "package-0", 950);
  rapl.add("intel-rapl:0:0", "dram", 130);
  rapl.add("intel-rapl:0:1", "core", 800);
  rapl.add("intel-rapl:1", "psys", 9000);
  CHECK(meter.sample().value() == Approx(80e-6));
  rapl.add("intel-rapl:0", "package-0", 20);
  CHECK(meter.sample().value() == Approx(150e-6));  // 50 uJ to the end of the counter's range, and 20 uJ after it
}

TEST_CASE("without counters the energy is unknown, not 0") {
  test::Scratch empty;
  CHECK_FALSE(watch::EnergyMeter(empty.path()).sample());
  CHECK_FALSE(watch::EnergyMeter(empty / "nowhere").sample());
}
