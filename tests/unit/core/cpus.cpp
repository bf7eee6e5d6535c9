#include "core/process/cpus.hpp"

#include <vector>

#include <catch2/catch.hpp>

using namespace trainrt;

TEST_CASE("the kind of a CPU is its model and the instruction sets that change results") {
  CHECK(kind_of_cpu_in("processor\t: 0\nmodel name\t: Fast CPU @ 2 GHz\nflags\t\t: fpu sse2 fma avx avx2 rdrand\n\n"
                       "processor\t: 1\nmodel name\t: other\n") == "Fast CPU @ 2 GHz (fma avx avx2)");
  CHECK(kind_of_cpu_in("processor\t: 0\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n") ==
        "0x41 0xd40 (sve)");
  CHECK(kind_of_cpu_in("").empty());
  CHECK_FALSE(kind_of_cpu().empty());
}

TEST_CASE("CPUs on which several threads may run are counted once") {
  CHECK(cpus_together(std::vector<std::string>{"11", "011", "1"}) == 3);
  CHECK(cpus_together(std::vector<std::string>{}) == 0);
}

TEST_CASE("ranks that share CPUs divide the threads of a task, and each has at least one") {
  const std::vector<std::string> four(4, "11");
  CHECK((cpu_share("11", four) == CpuShare{.cpus = 2, .ranks = 4}));
  CHECK((cpu_share("11", {}) == CpuShare{.cpus = 2, .ranks = 1}));
  CHECK(limited_threads(4, {.cpus = 2, .ranks = 2}) == 4);
  CHECK(limited_threads(4, {.cpus = 2, .ranks = 4}) == 2);
  CHECK(limited_threads(4, {.cpus = 1, .ranks = 8}) == 1);
  CHECK(limited_threads(2, {.cpus = 64, .ranks = 1}) == 2);
}

TEST_CASE("everything that starts threads for a rank has the share of CPUs that was set") {
  CHECK(threads_of_this_rank(8) == 8);
  set_cpu_share_of_process({.cpus = 2, .ranks = 4});
  CHECK(threads_of_this_rank(8) == 4);
  set_cpu_share_of_process({});
  CHECK(threads_of_this_rank(8) == 8);
}

TEST_CASE("ranks are bound to blocks of CPUs only if all blocks get equally many ranks") {
  const auto blocks = [](const std::string& cpus, int ranks, int width) {
    std::vector<std::string> found;
    for (int rank = 0; rank < ranks; ++rank) found.push_back(block_of_cpus(cpus, rank, ranks, width));
    return found;
  };
  CHECK(blocks("11", 4, 1) == std::vector<std::string>{"1", "1", "01", "01"});
  CHECK(blocks("0101", 4, 1) == std::vector<std::string>{"01", "01", "0001", "0001"});
  CHECK(blocks("1111", 6, 2) == std::vector<std::string>{"11", "11", "11", "0011", "0011", "0011"});
  CHECK(blocks("11", 3, 1) == std::vector<std::string>(3, "11"));
  CHECK(blocks("111", 8, 1) == std::vector<std::string>(8, "111"));
  CHECK(blocks("111", 4, 2) == std::vector<std::string>(4, "111"));
  CHECK(blocks("11", 4, 2) == std::vector<std::string>(4, "11"));  // a rank with two threads needs both CPUs
  CHECK(blocks("1111", 4, 1) == std::vector<std::string>(4, "1111"));
  CHECK(blocks("1", 4, 1) == std::vector<std::string>(4, "1"));
}
