#include "trainer/saving/mirror_restore.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/verify.hpp"
#include "comm/agreement.hpp"
#include "core/files/guarded_tree.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "io/files/temporary.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"
#include "metrics/result_log.hpp"
#include "rundir/records/point_words.hpp"
#include "rundir/records/run_record.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/saving/checkpoint_mirror.hpp"
#include "trainer/saving/restored_records.hpp"

namespace trainrt::trainer {

namespace {

/// "000003.json"
bool is_record_name(const std::string& name) {
  const auto digits = name.substr(0, name.find('.'));
  return !digits.empty() && digits.size() <= 9 && name == digits + ".json" &&
         std::ranges::all_of(digits, [](char letter) { return letter >= '0' && letter <= '9'; });
}

/// Why the checkpoint in `into` cannot be used; "" if it can. `brought.unreported` is set if it is whole.
std::string flaw_of(const std::string& into, std::int64_t number, const std::string& reports_in, Brought& brought) {
  const auto name = checkpoint::directory_name(number);
  if (const auto damages = checkpoint::verify(into + "/" + name); !damages.empty()) return "is damaged: " + damages.front();
  const auto meta = checkpoint::read_manifest(into + "/" + name).meta;
  if (!metrics::holds_records(reports_in, meta.iteration)) {
    if (brought.unreported.empty()) brought.unreported = name;
    return fmt::format("cannot be used: {} does not hold the reports of iterations 1 to {}", metrics::result_log_name,
                       meta.iteration);
  }
  brought.meta = meta;
  return "";
}

}  // namespace

Brought bring_newest(const checkpoint::MirroredRun& mirror, const std::string& into, const std::string& reports_in) {
  Brought brought;
  const auto numbers = mirror.numbers().complete;
  for (const auto number : std::views::reverse(numbers)) {
    const auto name = checkpoint::directory_name(number);
    std::string flaw;
    try {
      mirror.bring(number, into);
      flaw = flaw_of(into, number, reports_in, brought);
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

namespace {

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

bool holds_a_run(const std::string& run_dir) { return io::exists(run_dir) && !io::list_if_exists(run_dir).empty(); }

/// Waits, as for any storage, until `look` finds what must be there. StorageError if it does not come.
void wait_for(const std::string& url, const std::function<bool()>& look) {
  io::retried([&] {
    if (!look()) throw io::StorageError(url + " is not there", ESTALE, url);
  });
}

std::vector<std::string> attempts_in(const checkpoint::MirroredRun& mirror) {
  auto names = mirror.files_in("attempts");
  std::erase_if(names, [](const auto& name) { return !is_record_name(name); });
  return names;
}

[[noreturn]] void refuse_record(const std::string& why, const std::string& url) {
  throw UsageError(
      fmt::format("{}. Nothing was restored. Put a good copy of the file there; or remove {} to begin the run "
                  "anew",
                  why, url));
}

/// run.json there; nullopt if no run is there. It is put before all else, and removed last. UsageError if it is missing
/// though records of attempts are there, or damaged.
std::optional<rundir::RunRecord> record_in(const checkpoint::MirroredRun& mirror) try {
  auto text = mirror.text_of("run.json");
  if (text.empty() && attempts_in(mirror).empty()) return std::nullopt;
  wait_for(mirror.url() + "run.json", [&] { return !text.empty() || !(text = mirror.text_of("run.json")).empty(); });
  return rundir::run_record_from(text, mirror.url() + "run.json");
} catch (const UsageError& error) {
  refuse_record(error.what(), mirror.url());
} catch (const io::StorageError& error) {
  if (error.error_number() != ESTALE) throw;
  refuse_record(error.what(), mirror.url());
}

void bring_records(const checkpoint::MirroredRun& mirror, const std::string& into) {
  wait_for(mirror.url() + "run.json", [&] { return mirror.bring_file("run.json", into); });
  for (const auto* name : {"params.json", "result.json"}) mirror.bring_file(name, into);
}

/// A mirror that has a checkpoint has the records of the attempts up to it: if none is listed, a later listing may show
/// them. The run can do without.
void bring_attempts(const checkpoint::MirroredRun& mirror, const std::string& into) {
  std::vector<std::string> names;
  try {
    wait_for(mirror.url() + "attempts", [&] { return !(names = attempts_in(mirror)).empty(); });
  } catch (const io::StorageError& error) {
    if (error.error_number() != ESTALE) throw;
    log::warning(fmt::format("{}: the run goes on without the records of its attempts", error.what()));
  }
  for (const auto& name : names)
    wait_for(mirror.url() + "attempts/" + name, [&] { return mirror.bring_file("attempts/" + name, into); });
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

/// A result.json that is not there may be there a moment later: it is waited for, as any other storage. UsageError if it
/// does not come.
void require_reports(const checkpoint::MirroredRun& mirror, const std::string& into, const std::string& checkpoint) try {
  wait_for(mirror.url() + metrics::result_log_name, [&] { return mirror.bring_file(metrics::result_log_name, into); });
} catch (const io::StorageError& error) {
  throw UsageError(
      fmt::format("{}, and {} cannot be used without its reports. Nothing was restored. Put a good copy of the "
                  "file there; or remove {} to begin the run anew",
                  error.what(), checkpoint, mirror.url()));
}

[[noreturn]] void refuse_reports(const std::string& url, const std::string& checkpoint) {
  throw UsageError(
      fmt::format("{}{} does not hold the reports of any checkpoint that is whole there ({} is the newest). "
                  "Nothing was restored. Put a good copy of the file there; or remove {} to begin the run anew",
                  url, metrics::result_log_name, checkpoint, url));
}

/// The same as bring_newest(), with the reports in `into`. UsageError if there is a checkpoint that only lacks its reports.
Brought bring_reported(const checkpoint::MirroredRun& mirror, const std::string& into) {
  auto brought = bring_newest(mirror, into, into);
  if (brought.meta || brought.unreported.empty()) return brought;
  if (!io::exists(into + "/" + metrics::result_log_name)) {
    require_reports(mirror, into, brought.unreported);
    brought = bring_newest(mirror, into, into);
  }
  if (!brought.meta) refuse_reports(mirror.url(), brought.unreported);
  return brought;
}

void bring_run(const config::RunSpec& spec) {
  if (holds_a_run(spec.run_dir)) return;
  auto mirror = mirror_of(spec);
  const auto record = record_in(mirror);
  if (!record) return;
  log::info(fmt::format("there is no {}: the run is restored from {}", spec.run_dir, mirror.url()));
  const GuardedTree guarded(spec.run.storage_path);
  const Aside aside(spec);
  bring_records(mirror, aside.path());
  const auto brought = bring_reported(mirror, aside.path());
  if (!brought.meta) return give_up_run_there(mirror);
  const auto& restored = *brought.meta;
  bring_attempts(mirror, aside.path());
  fit_records(aside.path(), *record, restored, mirror.url());
  aside.put_in_place(spec.run_dir);
  log::info(fmt::format("restored: the run goes on from {} ({})", checkpoint::directory_name(restored.number),
                        rundir::short_point(restored.step, restored.iteration)));
}

}  // namespace

void restore_from_mirror(const config::RunSpec& spec, Communicator& communicator) {
  if (spec.checkpoint.mirror.empty()) return;
  comm::collectively_on_first(
      communicator, [&] { bring_run(spec); }, with_advice);
}

}  // namespace trainrt::trainer
