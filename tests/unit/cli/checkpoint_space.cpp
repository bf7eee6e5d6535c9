#include "cli/start/checkpoint_space.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace trainrt;
using Catch::Contains;

namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
constexpr cli::CheckpointSize size{.bytes = gibibyte, .inodes = 4};

std::string compared(std::int64_t num_to_keep, std::int64_t existing, const StorageRoom& room,
                     const std::vector<Quota>& quotas = {}) {
  return cli::compare_space(size, {.num_to_keep = num_to_keep, .existing = existing}, room, quotas);
}

}  // namespace

TEST_CASE("existing checkpoints reduce the space that is needed, and checkpoints that fit cause no warning") {
  CHECK_THAT(compared(3, 0, {.free_bytes = 5 * gibibyte, .free_inodes = 20}),
             Contains("num_to_keep = 3 needs 5.0 GiB and 20 inodes in addition") && !Contains("WARNING"));
  CHECK_THAT(compared(3, 4, {.free_bytes = gibibyte, .free_inodes = 4}), Contains("1.0 GiB and 4") && !Contains("WARNING"));
  CHECK_THAT(compared(3, 9, {.free_bytes = gibibyte}), Contains("1.0 GiB and 4") && !Contains("WARNING"));
}

TEST_CASE("too little space, too few inodes and each quota cause warnings that name the key") {
  CHECK_THAT(compared(3, 0, {.free_bytes = 5 * gibibyte - 1, .free_inodes = 20}),
             Contains("WARNING: the file system has 5.0 GiB: lower checkpoint.num_to_keep") && !Contains("layout"));
  CHECK_THAT(compared(3, 0, {.free_bytes = 6 * gibibyte, .free_inodes = 19}),
             Contains("WARNING: the file system has 19 inodes: set checkpoint.layout = single"));
  const std::vector<Quota> quotas{{.holder = "user", .used_bytes = 9 * gibibyte, .max_bytes = 10 * gibibyte},
                                  {.holder = "group", .used_files = 100, .max_files = 90}};
  CHECK_THAT(compared(1, 0, {.free_bytes = 50 * gibibyte}, quotas),
             Contains("the user quota leaves 1.0 GiB") && Contains("the group quota leaves 0 inodes"));
}

TEST_CASE("a run that keeps all checkpoints shows how many more fit") {
  CHECK_THAT(compared(0, 7, {.free_bytes = 9 * gibibyte, .free_inodes = 21}),
             Contains("space for 5 more") && !Contains("WARNING"));
  CHECK_THAT(compared(0, 0, {.free_bytes = gibibyte / 2}), Contains("WARNING") && Contains("space for 0 more"));
}
