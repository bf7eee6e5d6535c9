#include "trainer/saving/mirror_repair.hpp"

#include <fmt/format.h>

#include "checkpoint/format/names.hpp"
#include "core/fault_point.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "metrics/result_log.hpp"
#include "rundir/records/point_words.hpp"
#include "rundir/records/run_record.hpp"
#include "trainer/saving/mirror_writer.hpp"
#include "trainer/saving/mirrored_checkpoint.hpp"

namespace trainrt::trainer {

namespace {

bool has_run(const checkpoint::MirroredRun& mirror, const std::string& run_id) {
  const auto text = mirror.text_of("run.json");
  return !text.empty() && rundir::run_record_from(text, mirror.url() + "run.json").run_id == run_id;
}

/// Moves the directory `from` to `to`, atomically. If `to` exists, the two directories are exchanged.
void move_or_exchange(const std::string& from, const std::string& to) {
  if (!io::rename_to_new(from, to)) io::exchange(from, to);
}

}  // namespace

std::optional<std::int64_t> repair_from_mirror(const config::RunSpec& spec, const std::string& run_id,
                                               const std::string& private_dir) {
  if (spec.checkpoint.mirror.empty()) return std::nullopt;
  const auto mirror = mirror_of(spec);
  log::warning(fmt::format("all checkpoints in {} are damaged; trying to restore one from the mirror {}", spec.run_dir,
                           mirror.url()));
  if (!has_run(mirror, run_id)) {
    log::warning(fmt::format("the mirror {} has no copy of this run", mirror.url()));
    return std::nullopt;
  }
  const auto temporary = private_dir + "/from_mirror";
  io::remove_tree(temporary);
  io::make_directory(temporary);
  const auto fetched = fetch_newest(mirror, temporary, spec.run_dir).meta;
  if (fetched) {
    fault_point("repair");
    const auto name = checkpoint::directory_name(fetched->number);
    move_or_exchange(temporary + "/" + name, spec.run_dir + "/" + name);
    io::sync_directory(spec.run_dir);
    log::info(fmt::format("{} was restored from {} ({})", name, mirror.url(),
                          rundir::short_point(fetched->step, fetched->iteration)));
  } else {
    log::warning(fmt::format("the mirror {} has no intact checkpoint with all its reports in {}", mirror.url(),
                             metrics::result_log_name));
  }
  io::remove_tree(temporary);
  return fetched ? std::optional(fetched->number) : std::nullopt;
}

}  // namespace trainrt::trainer
