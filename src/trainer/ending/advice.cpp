#include "trainer/ending/advice.hpp"

#include <cerrno>
#include <string_view>

#include <trainrt/error.hpp>

#include "checkpoint/checkpoint_error.hpp"
#include "checkpoint/save/directories.hpp"
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

/// A piece of advice, and a function that returns whether the advice applies to an error.
struct Row {
  bool (*applies)(const std::exception&);
  std::string_view advice;
};

constexpr std::string_view fewer_bytes =
    "or set checkpoint.num_to_keep to a small number (0, the default, keeps all checkpoints) to need less space";
constexpr std::string_view fewer_files =
    "or set checkpoint.layout = single and checkpoint.num_to_keep to a small number "
    "(0, the default, keeps all checkpoints) to need fewer files";
constexpr std::string_view fewer_of_both =
    "or set checkpoint.num_to_keep to a small number (0, the default, keeps all checkpoints) to need less space; "
    "checkpoint.layout = single needs fewer files";
constexpr std::string_view collective_limit = "failure.collective_timeout sets this limit";
constexpr std::string_view share_storage =
    "set run.storage_path to a folder on a shared file system, "
    "or raise failure.storage_timeout if the shared file system is slow";

/// All pieces of advice. The first row that applies to an error is used.
constexpr Row rows[] = {
    {is<comm::CollectiveTimeout>, collective_limit},
    {is<comm::RankGone>, ""},  // no advice, since the failed rank or Slurm reports the cause
    {is<comm::UnknownBackend>, "set scaling.backend to one of them"},
    {is<comm::BackendRefused>, "set scaling.backend = auto to use the best available backend"},
    {is<comm::BackendsDiffer>, "set the same scaling.backend on all ranks (a rank that cannot read the config uses auto)"},
    {is<device::GpusRefused>,
     "set scaling.gpus_per_worker to auto to use the GPUs that exist, or to 0 to train on the CPU; "
     "in a Python script, set ScalingConfig(use_gpu=False)"},
    {is<device::GpuStalled>, collective_limit},
    {is<checkpoint::SaveStalled>, collective_limit},
    {is<checkpoint::DirectoryNotSeen>, share_storage},
    {is<checkpoint::AllDamaged>,
     "Or add --run.missing_checkpoints=accept to the command to train from the beginning, "
     "or --run.name=NAME to start a new run."},
    {is<checkpoint::FilesDiffer>, "or set checkpoint.same_files = rank0 to keep the files of all ranks"},
    {is<checkpoint::StateDiffers>, "Or set another run.name (in Python: RunConfig(name=...)) to start a new run."},
    {is<rundir::PathNotShared>, share_storage},
    {is<rundir::PathNotWritable>, "set run.storage_path to a folder in which you may write"},
    {is<rundir::RunIsOwned>, "or set another run.name for this run"},
    {is<rundir::ForeignRun>, "or set another run.name or run.storage_path"},
    {is<rundir::CheckpointsMissing>,
     "to start anyway, add --run.missing_checkpoints=accept to the command once; to start a new run, add --run.name=NAME"},
    {is<rundir::NoProgress>, "or add --failure.max_no_progress=0 to try again anyway"},
    {lacks<Shortage::space, Shortage::quota_bytes>, fewer_bytes},
    {lacks<Shortage::inodes, Shortage::quota_files>, fewer_files},
    {lacks<Shortage::quota>, fewer_of_both},
    {is_storage<EROFS>, "set another run.storage_path"},
    {is_storage<ENAMETOOLONG>, "the path contains run.storage_path and run.name: shorten one of them"},
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
  if (storage != nullptr && storage->error_number() == EROFS)
    return joined(message_of(error), "choose a folder in which you may write, such as another -o");
  if (storage == nullptr || storage->shortage() == Shortage::none) return with_advice(error);
  return joined(message_of(error), "set -o to a file on another file system");
}

}  // namespace trainrt::trainer
