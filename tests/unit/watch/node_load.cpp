// Tests of finding conditions of a node that slow a rank down, with files in place of /proc and /sys.
#include "watch/node_load.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::watch;

namespace {

class FakeNode {
 public:
  void write(const std::string& path, const std::string& text) const {
    const auto file = std::filesystem::path(root()) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  /// Adds a process on `cpu` that has used `ticks` of CPU time.
  void process(int pid, const std::string& name, int cpu, long ticks) const {
    std::string fields = " S";
    for (int field = 4; field <= 52; ++field) fields += fmt::format(" {}", field == 14 ? ticks : field == 39 ? cpu : 0);
    write(fmt::format("proc/{}/stat", pid), fmt::format("{} ({}){}\n", pid, name, fields));
  }
  std::string root() const { return scratch_.path(); }

 private:
  test::Scratch scratch_;
};

/// Pins the thread to its CPU.
class Pinned {
 public:
  Pinned() : cpu(sched_getcpu()) {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~Pinned() { sched_setaffinity(0, sizeof before_, &before_); }
  Pinned(const Pinned&) = delete;
  const int cpu;

 private:
  cpu_set_t before_{};
};

}  // namespace

TEST_CASE("a detailed sample has the changes since the previous detailed sample") {
  const FakeNode node;
  node.write("proc/stat", "cpu  100 0 0 100 0 0 0 0 0 0\n");
  node.write("proc/vmstat", "nr_free_pages 5\npswpin 1000\npswpout 3\n");
  NodeLoad load(node.root());
  CHECK(load.sample(true).stolen == 0);  // no earlier sample
  node.write("proc/stat", "cpu  150 0 0 100 0 0 0 50 0 0\n");
  node.write("proc/vmstat", "nr_free_pages 5\npswpin 1300\npswpout 3\n");
  const auto facts = load.sample(true);
  CHECK(facts.stolen == Approx(0.5));
  CHECK(facts.swapped > 0);
  CHECK(load.sample(true).stolen == 0);
  node.write("proc/stat", "cpu  150 0 0 100 0 0 0 500 0 0\n");
  CHECK(load.sample(false).stolen == 0);
  CHECK(load.sample(true).stolen == 0);
}

TEST_CASE("a detailed sample has clock, throttling, temperature and the busiest other process of the CPU") {
  const Pinned pinned;
  const FakeNode node;
  const auto cpu = fmt::format("sys/devices/system/cpu/cpu{}/", pinned.cpu);
  node.write(cpu + "cpufreq/scaling_cur_freq", "1200000\n");
  node.write(cpu + "cpufreq/cpuinfo_max_freq", "3100000\n");
  node.write(cpu + "thermal_throttle/core_throttle_count", "10\n");
  node.write("sys/class/thermal/thermal_zone0/temp", "45000\n");
  node.write("sys/class/thermal/thermal_zone1/temp", "95000\n");
  node.process(2'000'001, "a ) b", pinned.cpu, 100);
  node.process(2'000'002, "elsewhere", pinned.cpu + 1, 100);
  NodeLoad load(node.root());
  auto facts = load.sample(true);
  CHECK(facts.clock_ghz == Approx(1.2));
  CHECK(facts.full_clock_ghz == Approx(3.1));
  CHECK(facts.throttled == 0);  // no earlier sample
  CHECK(facts.celsius == 95);
  CHECK(facts.other_share == 0);
  node.write(cpu + "thermal_throttle/core_throttle_count", "14\n");
  node.process(2'000'001, "a ) b", pinned.cpu, 100'000);
  node.process(2'000'002, "elsewhere", pinned.cpu + 1, 900'000);
  facts = load.sample(true);
  CHECK(facts.throttled == 4);
  CHECK(facts.other_share > 0);
  CHECK(std::string(facts.other.data()) == "a ) b");
}

TEST_CASE("missing or damaged files yield no reasons") {
  const FakeNode node;
  NodeLoad load(node.root());
  auto facts = load.sample(true);
  facts.preempted = facts.major_faults = 0;  // of the thread itself
  CHECK(reasons_in(facts).empty());
  node.write("proc/stat", "cpu garbage");
  node.write("proc/77/stat", "77 (no end");
  facts = load.sample(true);
  facts.preempted = facts.major_faults = 0;
  CHECK(reasons_in(facts).empty());
}
