// scale_probe RANKS TENSORS FOLDER: runs RANKS ranks as threads; prints the collectives of rank 0 in each operation, and
// the peak memory of the process. The state has TENSORS replicated tensors, four sharded tensors, and four tensors per
// rank.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <sys/prctl.h>
#include <sys/resource.h>

#include "support/cpp/scale.hpp"

int main(int count, char** words) {
  if (count != 4) {
    std::fprintf(stderr, "usage: scale_probe RANKS TENSORS FOLDER\n");
    return 64;
  }
  // Disables huge pages; otherwise each of the thousands of thread stacks would take one.
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  const int ranks = std::atoi(words[1]);
  try {
    for (const auto& [name, operation] : trainrt::test::ScaleRun(ranks, {std::atoi(words[2]), 4}, words[3]).measure()) {
      const auto& tally = operation.tally;
      std::printf("= %s rounds %lld collectives %lld gathers %lld bytes %lld seconds %.3f\n", name.c_str(),
                  static_cast<long long>(trainrt::test::rounds_of(tally, ranks)),
                  static_cast<long long>(tally.collectives()), static_cast<long long>(tally.gathers),
                  static_cast<long long>(tally.gathered_bytes), operation.seconds);
    }
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    std::printf("peak_megabytes %ld\n", used.ru_maxrss / 1024);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scale_probe: %s\n", error.what());
    return 70;
  }
  return 0;
}
