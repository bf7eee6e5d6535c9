#include "trainer/records/same_bits.hpp"

#include <cstdlib>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "checkpoint/format/manifest.hpp"
#include "io/files/file.hpp"
#include "rundir/records/attempt_record.hpp"
#include "rundir/records/rank_status.hpp"
#include "support/cpp/ranks.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::trainer;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

/// Returns the resources of ranks on the nodes `nodes`, with two CPUs and 8 GiB of memory each.
RankResources on_nodes(const std::vector<int>& nodes) {
  RankResources resources;
  for (const int node : nodes)
    resources.ranks.push_back({.node = node, .affinity = "11", .cpu = "a", .threads = 1, .memory = 8 * gib});
  return resources;
}

rundir::AttemptRecord attempt_with(const RankResources& resources) {
  return {.number = 3, .ranks = static_cast<int>(resources.ranks.size()), .bits = bit_facts_of(resources)};
}

EarlierBits facts_of(const RankResources& resources) {
  return {.from = "attempt 3", .ranks = static_cast<int>(resources.ranks.size()), .bits = bit_facts_of(resources)};
}

}  // namespace

TEST_CASE("CPUs that ranks of a node share are counted once") {
  CHECK(on_nodes({0, 0, 0, 0}).cpus() == 2);
  CHECK(on_nodes({0, 0, 1, 1}).cpus() == 4);
  CHECK(on_nodes({0, 0, 1, 1}).nodes() == 2);
  CHECK(sharing_in_words(4, 2, 1) == "4 workers on 2 CPUs of 1 node (2 workers per CPU)");
  CHECK(sharing_in_words(4, 8, 2) == "4 workers on 8 CPUs of 2 nodes (0.5 workers per CPU)");
}

TEST_CASE("another layout of ranks over nodes is no difference") {
  CHECK(bit_differences(facts_of(on_nodes({0, 0, 1, 1})), on_nodes({0, 0, 0, 0})).empty());
}

TEST_CASE("another number of ranks or threads, or another kind of CPU, is a difference with both values") {
  const auto last = facts_of(on_nodes({0, 0, 1}));
  CHECK(bit_differences(last, on_nodes({0, 0})) == std::vector<std::string>{"the number of ranks was 3 and is 2"});
  auto changed = on_nodes({0, 0, 1});
  changed.ranks[1].threads = 2;
  changed.ranks[2].cpu = "b";
  CHECK(bit_differences(last, changed) ==
        std::vector<std::string>{"the number of threads of rank 1 was 1 and is 2", "the CPU of rank 2 was a and is b"});
}

TEST_CASE("more threads than CPUs are a difference, since libraries may then use fewer threads") {
  auto before = on_nodes({0});
  before.ranks[0].threads = 2;
  auto now = before;
  now.ranks[0].affinity = "1";
  CHECK(bit_differences(facts_of(before), now) ==
        std::vector<std::string>{"the number of threads of rank 0 was 2 and is 2 on 1 CPU"});
}

TEST_CASE("ranks that need more memory than their node has are an error with both figures") {
  const RecordedMemory used{
      .attempt = 2, .peaks = {gib, 3 * gib, 3 * gib, 3 * gib}, .max_peak = 3 * gib, .max_per_node = 2};
  const std::vector<std::string> hosts = {"n1", "n1", "n1", "n1"};
  CHECK_NOTHROW(require_memory_of_nodes(used, on_nodes({0, 0, 1, 1}), hosts));
  CHECK_NOTHROW(require_memory_of_nodes({}, on_nodes({0, 0, 0, 0}), hosts));  // no attempt has recorded its memory
  CHECK_THROWS_WITH(require_memory_of_nodes(used, on_nodes({0, 0, 0, 0}), hosts),
                    Contains("4 ranks on n1 need 10.0 GiB of memory") && Contains("in attempt 2") && Contains("3.0 GiB") &&
                        Contains("the node has 8.0 GiB") && Contains("--mem") && Contains("scaling.on_resize = refuse"));
}

TEST_CASE("a value of OMP_NUM_THREADS is replaced only if the config sets same_bits or requires the same bits") {
  const test::Scratch run_dir;
  io::make_directories(run_dir / "attempts");
  auto earlier = attempt_with(on_nodes({0}));  // one thread
  earlier.start = "2026-11-21T12:00:00Z";
  io::replace_file(run_dir / "attempts/000003.json", rundir::to_text(earlier));
  config::RunSpec spec;
  const auto threads_with = [&](const char* value) {
    value != nullptr ? setenv("OMP_NUM_THREADS", value, 1) : unsetenv("OMP_NUM_THREADS");
    test::run_ranks(1, [&](Communicator& ranks) { fix_threads(spec, run_dir.path(), {.size = 1}, ranks); });
    const std::string threads = std::getenv("OMP_NUM_THREADS");
    unsetenv("OMP_NUM_THREADS");
    return threads;
  };
  CHECK(threads_with("7") == "7");
  CHECK(threads_with(nullptr) == "1");
  spec.scaling.require_same_bits = true;
  CHECK(threads_with("7") == "1");
  spec.scaling.require_same_bits = false;
  spec.scaling.on_resize_key = config::OnResize::same_bits;
  CHECK(threads_with("7") == "1");
}

TEST_CASE("after a recovery from a copy in memory, libraries are compared with those of the newest checkpoint") {
  using Builds = std::map<std::string, rundir::RankTexts>;
  const test::Scratch run_dir;
  const auto save_with = [&](const std::string& bits) {
    checkpoint::Manifest manifest{
        .meta = {.number = 5, .ranks = 1, .created = "2026-11-21T12:00:00Z", .bits = bits},
        .shards = {{.name = checkpoint::shard_name(0),
                    .bytes = 1,
                    .parts = {{.rank = 0, .at = 0, .bytes = 1, .digest = std::string(32, '0')}}}}};
    io::make_directories(run_dir / checkpoint::directory_name(5));
    io::replace_file(run_dir / checkpoint::directory_name(5) + "/manifest.json", checkpoint::to_text(manifest));
  };
  config::RunSpec spec;
  spec.run_dir = run_dir.path();
  spec.scaling.require_same_bits = true;
  const auto message_for = [&](const char* build) {
    std::string message;
    test::run_ranks(1, [&](Communicator& ranks) {
      try {
        check_libraries_of_newest(spec, Builds{{"BLIS", rundir::RankTexts({build})}}, ranks);
      } catch (const Error& error) {
        message = error.what();
      }
    });
    return message;
  };
  CHECK(message_for("libblis.so.4 (build 2)").empty());  // no checkpoint
  save_with(rundir::to_json({.libraries = Builds{{"BLIS", rundir::RankTexts({"libblis.so.4 (build 1)"})}}}).dump());
  CHECK(message_for("libblis.so.4 (build 1)").empty());
  CHECK_THAT(message_for("libblis.so.4 (build 2)"),
             Contains("those of checkpoint_000005: BLIS of rank 0 was libblis.so.4"));
  save_with(R"({"threads": [[0, "1"]], "cpus": [], "versions": {}})");  // invalid facts
  CHECK(message_for("libblis.so.4 (build 2)").empty());
}

TEST_CASE("too little memory is an error only if the config sets same_bits or requires the same bits") {
  const test::Scratch run_dir;
  io::make_directories(run_dir / "attempts");
  io::make_directories(run_dir / "logs");
  const rundir::AttemptRecord attempt{.number = 1, .ranks = 1, .start = "2026-11-21T12:00:00Z", .memory_attempt = 1};
  io::replace_file(run_dir / "attempts/000001.json", rundir::to_text(attempt));
  const auto peak = static_cast<std::int64_t>(5 * gib);
  io::replace_file(run_dir / rundir::rank_statuses_name(1), rundir::rank_status_line({.host = "n1", .peak = peak}));
  config::RunSpec spec;
  spec.run_dir = run_dir.path();
  const auto start = [&] { require_fit(spec, on_nodes({0, 0}), {"n1", "n1"}); };
  CHECK_NOTHROW(start());
  spec.scaling.require_same_bits = true;
  CHECK_THROWS_WITH(start(), Contains("2 ranks on n1 need 10.0 GiB of memory"));
  spec.scaling.require_same_bits = false;
  spec.scaling.on_resize_key = config::OnResize::same_bits;
  CHECK_THROWS_WITH(start(), Contains("2 ranks on n1 need 10.0 GiB of memory"));
}
