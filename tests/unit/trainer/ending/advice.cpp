#include <cerrno>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "checkpoint/checkpoint_error.hpp"
#include "comm/comm_error.hpp"
#include "device/device_error.hpp"
#include "io/storage_error.hpp"
#include "rundir/records/run_error.hpp"
#include "trainer/ending/advice.hpp"

using namespace trainrt;
using Catch::Contains;

namespace {

struct Row {
  std::shared_ptr<const Error> error;
  std::vector<std::string> keys;  ///< config keys in the advice
};

template <class E, class... Fields>
std::shared_ptr<const Error> an(Fields... fields) {
  return std::make_shared<const E>("it failed", fields...);
}

std::vector<Row> rows() {
  return {
      {an<comm::CollectiveTimeout>(), {"failure.collective_timeout"}},
      {an<comm::RankGone>(), {}},
      {an<comm::UnknownBackend>(), {"scaling.backend"}},
      {an<comm::BackendRefused>(), {"scaling.backend = auto"}},
      {an<comm::BackendsDiffer>(), {"scaling.backend"}},
      {an<device::GpusRefused>(), {"scaling.gpus_per_worker"}},
      {an<device::GpuStalled>(), {"failure.collective_timeout"}},
      {an<checkpoint::SaveStalled>(2), {"failure.collective_timeout"}},
      {an<checkpoint::DirectoryNotSeen>(ENOENT, "/d", 2), {"run.storage_path", "failure.storage_timeout"}},
      {an<checkpoint::DirectoryNotSeen>(ESTALE, "/d", 2), {"run.storage_path", "failure.storage_timeout"}},
      {an<checkpoint::AllDamaged>("/d", std::vector<std::string>{"a"}),
       {"--run.missing_checkpoints=accept", "--run.name=NAME"}},
      {an<checkpoint::StateDiffers>("/d", std::vector<std::string>{"a"}), {"run.name"}},
      {an<rundir::PathNotShared>(), {"run.storage_path", "failure.storage_timeout"}},
      {an<rundir::PathNotWritable>(), {"run.storage_path"}},
      {an<rundir::RunIsOwned>(), {"run.name"}},
      {an<rundir::ForeignRun>(), {"run.name", "run.storage_path"}},
      {an<rundir::CheckpointsMissing>(), {"--run.missing_checkpoints=accept", "--run.name=NAME"}},
      {an<rundir::NoProgress>(), {"--failure.max_no_progress=0"}},
      {an<io::StorageError>(ENOSPC, "/d", Shortage::space), {"checkpoint.num_to_keep"}},
      {an<io::StorageError>(ENOSPC, "/d", Shortage::inodes), {"checkpoint.layout = single", "checkpoint.num_to_keep"}},
      {an<io::StorageError>(EDQUOT, "/d", Shortage::quota_bytes), {"checkpoint.num_to_keep"}},
      {an<io::StorageError>(EDQUOT, "/d", Shortage::quota_files), {"checkpoint.layout = single", "checkpoint.num_to_keep"}},
      {an<io::StorageError>(EDQUOT, "/d", Shortage::quota), {"checkpoint.layout = single", "checkpoint.num_to_keep"}},
      {an<io::StorageError>(EROFS, "/d"), {"run.storage_path"}},
      {an<io::StorageError>(ENAMETOOLONG, "/d"), {"run.storage_path", "run.name"}},
      {an<io::StorageError>(EIO, "/d"), {}},
      {an<Error>(), {}},
      {an<UsageError>(), {}}};
}

}  // namespace

TEST_CASE("the advice on an error names config keys that fit the type of the error") {
  for (const auto& row : rows()) {
    const auto advice = trainer::advice_for(*row.error);
    INFO(advice);
    CHECK(advice.empty() == row.keys.empty());
    for (const auto& key : row.keys) CHECK_THAT(advice, Contains(key));
  }
}

TEST_CASE("advice follows the message, on a separate line if the message has several lines") {
  CHECK(trainer::with_advice(rundir::RunIsOwned("it is run")) == "it is run; or set another run.name for this run");
  CHECK(
      trainer::with_advice(checkpoint::AllDamaged("all:\n  a\nBring one back.", "/d", {"a"})) ==
      "all:\n  a\nBring one back.\nOr add --run.missing_checkpoints=accept to the command to train from the beginning, or "
      "--run.name=NAME to start a new run.");
  CHECK(trainer::with_advice(Error("it failed")) == "it failed");
  CHECK(trainer::with_output_advice(io::StorageError("it failed", EROFS, "/d")) ==
        "it failed; choose a folder in which you may write, such as another -o");
  CHECK(trainer::with_advice(std::runtime_error("it failed")) == "it failed");
}
