#include "rundir/attempts/completion.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"
#include "io/storage_retry.hpp"
#include "rundir/attempts/attempt_files.hpp"

namespace trainrt::rundir {

std::optional<RunRecord::Completion> completion_of(const std::string& run_dir, const RunRecord& record) {
  if (record.state != RunState::finished) return std::nullopt;
  if (record.completed_by) return record.completed_by;
  const auto attempts = io::retried([&] { return read_attempts(run_dir, 1); });
  if (attempts.empty() || attempts.back().saved_checkpoint < 0) return std::nullopt;
  const auto& last = attempts.back();
  return RunRecord::Completion{last.saved_checkpoint, last.saved_step, last.saved_iteration};
}

std::string missing_end(const std::string& run_dir, const RunRecord& record) {
  const auto end = completion_of(run_dir, record);
  if (!end) return {};
  const auto name = checkpoint::directory_name(end->checkpoint);
  const auto what = fmt::format("the run finished with {} (iteration {})", name, end->iteration);
  try {
    const auto meta = io::retried([&] { return checkpoint::read_manifest(run_dir + "/" + name).meta; });
    if (RunRecord::Completion{meta.number, meta.step, meta.iteration} == *end) return {};
    return fmt::format("{}, but the checkpoint of that name holds iteration {} (step {})", what, meta.iteration, meta.step);
  } catch (const Error& error) {
    return fmt::format("{}, which cannot be read: {}", what, error.what());
  }
}

}  // namespace trainrt::rundir
