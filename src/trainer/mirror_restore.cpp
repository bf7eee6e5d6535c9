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
#include "core/host.hpp"
#include "core/log.hpp"
#include "io/file.hpp"
#include "io/temporary.hpp"
#include "metrics/result_log.hpp"
#include "rundir/attempt_files.hpp"
#include "rundir/completion.hpp"
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

struct Brought {
  std::optional<checkpoint::Meta> meta;  ///< nullopt: no checkpoint can be used
  std::string unreported;                ///< the newest whole checkpoint whose reports are missing; "" = none
};

/// Why the checkpoint in `into` cannot be used; "" if it can. `brought.unreported` is set if it is whole.
std::string flaw_of(const std::string& into, std::int64_t number, Brought& brought) {
  const auto name = checkpoint::directory_name(number);
  if (const auto damages = checkpoint::verify(into + "/" + name); !damages.empty()) return "is damaged: " + damages.front();
  const auto meta = checkpoint::read_manifest(into + "/" + name).meta;
  if (!metrics::holds_records(into, meta.iteration)) {
    if (brought.unreported.empty()) brought.unreported = name;
    return fmt::format("cannot be used: {} does not hold the reports of iterations 1 to {}", metrics::result_log_name,
                       meta.iteration);
  }
  brought.meta = meta;
  return "";
}

/// Brings the newest one that is whole, and whose reports are in `into`.
Brought bring_newest(const checkpoint::MirroredRun& mirror, const std::string& into) {
  Brought brought;
  const auto numbers = mirror.numbers().complete;
  for (const auto number : std::views::reverse(numbers)) {
    const auto name = checkpoint::directory_name(number);
    std::string flaw;
    try {
      mirror.bring(number, into);
      flaw = flaw_of(into, number, brought);
      if (flaw.empty()) return brought;
    } catch (const io::StorageError&) {
      throw;
    } catch (const Error& error) {
      flaw = std::string("cannot be used: ") + error.what();
    }
    log::warning(fmt::format("{}{} {}", mirror.url(), name, flaw));
    io::remove_tree(into + "/" + name);
  }
  return brought;
}

/// Returns whether the run in `run_dir` finished with that checkpoint, as far as its records tell. `finished`: its
/// run.json.
bool is_end_of(const std::string& run_dir, const rundir::RunRecord& finished, const checkpoint::Meta& restored) {
  const rundir::RunRecord::Completion brought{restored.number, restored.step, restored.iteration};
  if (const auto end = rundir::completion_of(run_dir, finished)) return *end == brought;
  const auto attempts = rundir::read_attempts(run_dir, 1);  // an older record, and the attempt's may have come too late
  return !attempts.empty() && attempts.back().why.starts_with("finished");
}

/// A run that finished with another checkpoint than the one that was restored has not finished: it has to compute the rest
/// again.
void reopen_unless_complete(const std::string& run_dir, rundir::RunRecord record, const checkpoint::Meta& restored,
                            const std::string& from) {
  if (record.state != "finished" || is_end_of(run_dir, record, restored)) return;
  const auto end = rundir::completion_of(run_dir, record);
  const auto what = end ? fmt::format("{} (iteration {})", checkpoint::directory_name(end->checkpoint), end->iteration)
                        : std::string("a checkpoint that its records do not name");
  log::warning(
      fmt::format("the run finished with {}, which cannot be read at {}. The run is not finished: it continues "
                  "from {} (iteration {})",
                  what, from, checkpoint::directory_name(restored.number), restored.iteration));
  record.state = "stopped";
  record.completed_by.reset();
  io::replace_file(run_dir + "/run.json", rundir::to_text(record));
}

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

/// run.json there; nullopt if there is none.
std::optional<rundir::RunRecord> record_in(const checkpoint::MirroredRun& mirror) {
  const auto text = mirror.text_of("run.json");
  if (text.empty()) return std::nullopt;
  try {
    return rundir::run_record_from(text, mirror.url() + "run.json");
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("{}. Nothing was restored. Put a good copy of the file there; or remove {} to begin the "
                    "run anew",
                    error.what(), mirror.url()));
  }
}

void bring_records(const checkpoint::MirroredRun& mirror, const std::string& into) {
  for (const auto* name : {"run.json", "params.json", "result.json"}) mirror.bring_file(name, into);
  for (const auto& name : mirror.files_in("attempts"))
    if (is_record_name(name)) mirror.bring_file("attempts/" + name, into);
}

/// A directory beside the run directory for what is brought, removed with this object unless it was renamed.
class Aside {
 public:
  /// Removes what killed processes have left of such directories, too.
  explicit Aside(const config::RunSpec& spec) : path_(io::temporary_beside(spec.run_dir)) {
    io::make_directories(spec.run.storage_path);
    io::remove_abandoned(spec.run.storage_path, spec.run.name + ".tmp.");
    io::remove_tree(path_);
    io::make_directories(path_ + "/attempts");
  }
  ~Aside() {
    try {
      io::remove_tree(path_);
    } catch (const std::exception& error) {
      log::warning(fmt::format("{} is left behind: {}", path_, error.what()));
    }
  }
  Aside(const Aside&) = delete;

  const std::string& path() const { return path_; }
  void put_in_place(const std::string& run_dir) const {
    io::sync_directory(path_ + "/attempts");
    io::sync_directory(path_);
    io::remove_tree(run_dir);  // it was empty
    if (!io::rename_to_new(path_, run_dir)) throw Error(fmt::format("{} came there meanwhile", run_dir));
  }

 private:
  std::string path_;
};

[[noreturn]] void refuse_without_reports(const std::string& url, const std::string& checkpoint) {
  throw UsageError(
      fmt::format("{}{} does not hold the reports of any checkpoint that is whole there ({} is the newest). "
                  "Nothing was restored. Put a good copy of the file there; or remove {} to begin the run anew",
                  url, metrics::result_log_name, checkpoint, url));
}

void bring_run(const config::RunSpec& spec) {
  if (holds_a_run(spec.run_dir)) return;
  auto mirror = mirror_of(spec);
  const auto record = record_in(mirror);
  if (!record) return;
  log::info(fmt::format("there is no {}: the run is restored from {}", spec.run_dir, mirror.url()));
  const Aside aside(spec);
  bring_records(mirror, aside.path());
  const auto brought = bring_newest(mirror, aside.path());
  if (!brought.meta && !brought.unreported.empty()) refuse_without_reports(mirror.url(), brought.unreported);
  if (!brought.meta) return give_up_run_there(mirror);
  const auto& restored = *brought.meta;
  reopen_unless_complete(aside.path(), *record, restored, mirror.url());
  end_attempts(aside.path(), restored, mirror.url());
  aside.put_in_place(spec.run_dir);
  log::info(fmt::format("restored: the run goes on from {} (step {})", checkpoint::directory_name(restored.number),
                        restored.step));
}

}  // namespace

void restore_from_mirror(const config::RunSpec& spec, Communicator& communicator) {
  if (spec.checkpoint.mirror.empty()) return;
  comm::agreed_on_first(
      communicator, [&] { bring_run(spec); }, with_advice);
}

}  // namespace trainrt::trainer
