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
