#include "trainer/mirror_restore.hpp"

#include <unistd.h>

#include <algorithm>
#include <ranges>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/verify.hpp"
#include "comm/agreement.hpp"
#include "core/guarded_tree.hpp"
#include "core/host.hpp"
#include "core/log.hpp"
#include "io/file.hpp"
#include "io/temporary.hpp"
#include "rundir/attempt_files.hpp"
#include "rundir/run_record.hpp"
#include "trainer/advice.hpp"
#include "trainer/checkpoint_mirror.hpp"

namespace trainrt::trainer {

namespace {

/// "000003.json"
bool is_record_name(const std::string& name) {
  const auto digits = name.substr(0, name.find('.'));
  return !digits.empty() && digits.size() <= 9 && name == digits + ".json" &&
         std::ranges::all_of(digits, [](char letter) { return letter >= '0' && letter <= '9'; });
}

}  // namespace

std::optional<checkpoint::Meta> bring_newest(const checkpoint::MirroredRun& mirror, const std::string& into) {
  const auto numbers = mirror.numbers().complete;
  for (const auto number : std::views::reverse(numbers)) {
    const auto directory = into + "/" + checkpoint::directory_name(number);
    try {
      mirror.bring(number, into);
      const auto damages = checkpoint::verify(directory);
      if (damages.empty()) return checkpoint::read_manifest(directory).meta;
      log::warning(fmt::format("{}{} is damaged: {}", mirror.url(), checkpoint::directory_name(number), damages.front()));
    } catch (const io::StorageError&) {
      throw;
    } catch (const Error& error) {
      log::warning(fmt::format("{}{} cannot be used: {}", mirror.url(), checkpoint::directory_name(number), error.what()));
    }
    io::remove_tree(directory);
  }
  return std::nullopt;
}

namespace {

/// Nobody runs there any more, and what came after that checkpoint is gone.
void end_attempts(const std::string& run_dir, const checkpoint::Meta& restored, const std::string& from) {
  for (const int number : rundir::numbers_of_attempts(run_dir)) {
    auto record = rundir::read_record(run_dir, number);
    if (!record) continue;
    if (record->end.empty()) {
      record->end = utc_now();
      record->why = "killed: its run directory is gone, and was restored from " + from;
      record->last_step = std::max(record->last_step, restored.step);
      record->iteration = std::max(record->iteration, restored.iteration);
    }
    if (record->saved_checkpoint > restored.number) {
      record->saved_checkpoint = restored.number;
      record->saved_step = restored.step;
      record->saved_iteration = restored.iteration;
    }
    io::replace_file(rundir::record_path(run_dir, number), rundir::to_text(*record));
  }
}

/// Else the new run, which has another run_id, would take what is there for another's, and have no mirror. The checkpoints
/// stay until the new run has one there: then they count as left behind.
void give_up_run_there(checkpoint::MirroredRun& mirror) try {
  const auto count = mirror.numbers().complete.size();
  const auto removed =
      fmt::format(". Its checkpoints ({}), which cannot be used, are removed there once the new run has one there", count);
  log::warning(fmt::format("{} has no checkpoint that is whole: the run begins anew, and replaces what is there{}",
                           mirror.url(), count > 0 ? removed : ""));
  mirror.remove_records();
} catch (const std::exception& error) {
  log::warning(fmt::format("the records of an earlier run at {} cannot be removed: {}", mirror.url(), error.what()));
}

bool holds_a_run(const std::string& run_dir) { return io::exists(run_dir) && !io::list_if_there(run_dir).empty(); }

void bring_run(const config::RunSpec& spec) {
  if (holds_a_run(spec.run_dir)) return;
  auto mirror = mirror_of(spec);
  if (mirror.text_of("run.json").empty()) return;
  const GuardedTree guarded(spec.run.storage_path);
  io::make_directories(spec.run.storage_path);
  const auto aside = io::temporary_beside(spec.run_dir);
  io::remove_tree(aside);
  io::make_directories(aside + "/attempts");
  log::info(fmt::format("there is no {}: the run is restored from {}", spec.run_dir, mirror.url()));
  const auto restored = bring_newest(mirror, aside);
  if (!restored) {
    io::remove_tree(aside);
    give_up_run_there(mirror);
    return;
  }
  for (const auto* name : {"run.json", "params.json", "result.json"}) mirror.bring_file(name, aside);
  for (const auto& name : mirror.files_in("attempts"))
    if (is_record_name(name)) mirror.bring_file("attempts/" + name, aside);
  end_attempts(aside, *restored, mirror.url());
  io::sync_directory(aside);
  io::remove_tree(spec.run_dir);  // it was empty
  if (!io::rename_to_new(aside, spec.run_dir)) throw Error(fmt::format("{} came there meanwhile", spec.run_dir));
  log::info(fmt::format("restored: the run goes on from {} (step {})", checkpoint::directory_name(restored->number),
                        restored->step));
}

}  // namespace

void restore_from_mirror(const config::RunSpec& spec, Communicator& communicator) {
  if (spec.checkpoint.mirror.empty()) return;
  comm::agreed_on_first(
      communicator, [&] { bring_run(spec); }, with_advice);
}

}  // namespace trainrt::trainer
