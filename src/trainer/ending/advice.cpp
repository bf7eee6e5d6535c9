#include "trainer/ending/advice.hpp"

#include <cerrno>
#include <string_view>

#include <trainrt/error.hpp>

#include "checkpoint/checkpoint_error.hpp"
#include "comm/comm_error.hpp"
#include "core/output/error_message.hpp"
#include "device/device_error.hpp"
#include "io/storage_error.hpp"
#include "rundir/records/run_error.hpp"

namespace trainrt::trainer {

namespace {

template <class E>
bool is(const std::exception& error) {
  return dynamic_cast<const E*>(&error) != nullptr;
}

template <int... numbers>
bool is_storage(const std::exception& error) {
  const auto* storage = dynamic_cast<const io::StorageError*>(&error);
  return storage != nullptr && ((storage->error_number() == numbers) || ...);
}

template <Shortage... kinds>
bool lacks(const std::exception& error) {
  const auto* storage = dynamic_cast<const io::StorageError*>(&error);
  return storage != nullptr && ((storage->shortage() == kinds) || ...);
}

struct Row {
  bool (*applies)(const std::exception&);
  std::string_view advice;
};

constexpr std::string_view fewer_bytes = "a lower checkpoint.num_to_keep (0 keeps all) needs less";
constexpr std::string_view fewer_files =
    "checkpoint.layout = single and a lower checkpoint.num_to_keep (0 keeps all) need fewer files";
constexpr std::string_view fewer_of_both =
    "a lower checkpoint.num_to_keep (0 keeps all) needs less, and checkpoint.layout = single fewer files";
constexpr std::string_view collective_limit = "failure.collective_timeout sets this limit";
constexpr std::string_view share_storage =
    "set run.storage_path to a folder on one; if it is on one that is slow, raise failure.storage_timeout";

/// The first that applies counts.
constexpr Row rows[] = {
    {is<comm::CollectiveTimeout>, collective_limit},
    {is<comm::RankGone>, ""},  // that rank, or Slurm, says why it ended
    {is<comm::UnknownBackend>, "set scaling.backend to one of these"},
    {is<comm::BackendRefused>, "scaling.backend = auto takes the best that can"},
    {is<comm::BackendsDiffer>, "give all ranks the same scaling.backend (one that cannot read the config takes auto)"},
    {is<device::GpusRefused>, "scaling.gpus_per_worker = auto takes those that are there, and 0 trains on the CPU"},
    {is<device::GpuStalled>, collective_limit},
    {is<checkpoint::SaveStalled>, collective_limit},
    {is<checkpoint::DirectoryNotSeen>, share_storage},
    {is<checkpoint::AllDamaged>,
     "Or add --run.missing_checkpoints=accept to the command, to compute from the beginning, or --run.name=NAME, to start "
     "a new run."},
    {is<checkpoint::StateDiffers>, "Or choose another run.name to start anew."},
    {is<rundir::PathNotShared>, share_storage},
    {is<rundir::PathNotWritable>, "choose a run.storage_path that you may write"},
    {is<rundir::RunIsOwned>, "or give this run another run.name"},
    {is<rundir::ForeignRun>, "or choose another run.name or run.storage_path"},
    {is<rundir::CheckpointsMissing>,
     "to do it on purpose, add --run.missing_checkpoints=accept to the command once, or give the run another name with "
     "--run.name=NAME"},
    {is<rundir::NoProgress>, "or add --failure.max_no_progress=0 to try all the same"},
    {lacks<Shortage::space, Shortage::quota_bytes>, fewer_bytes},
    {lacks<Shortage::inodes, Shortage::quota_files>, fewer_files},
    {lacks<Shortage::quota>, fewer_of_both},
    {is_storage<EROFS>, "choose another run.storage_path"},
    {is_storage<ENAMETOOLONG>, "run.storage_path and run.name are parts of it"},
};

}  // namespace

std::string advice_for(const std::exception& error) {
  for (const auto& row : rows)
    if (row.applies(error)) return std::string(row.advice);
  return {};
}

namespace {

std::string joined(const std::string& message, const std::string& advice) {
  if (advice.empty()) return message;
  return message + (message.find('\n') == std::string::npos ? "; " : "\n") + advice;
}

}  // namespace

std::string with_advice(const std::exception& error) { return joined(message_of(error), advice_for(error)); }

std::string with_output_advice(const std::exception& error) {
  const auto* storage = dynamic_cast<const io::StorageError*>(&error);
  if (storage == nullptr || storage->shortage() == Shortage::none) return with_advice(error);
  return joined(message_of(error), "-o names a file elsewhere");
}

}  // namespace trainrt::trainer
