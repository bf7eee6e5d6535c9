// trainrt verify: checks the checksums and schemas of a checkpoint, a run, a metrics file, or predictions.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/verify.hpp"
#include "checkpoint/other_files.hpp"
#include "cli/checkpoints/exporter.hpp"
#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/command_line/existing_path.hpp"
#include "cli/terminal/print.hpp"
#include "cli/terminal/progress_line.hpp"
#include "core/files/guarded_tree.hpp"
#include "core/options.hpp"
#include "core/process/cpus.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "io/hdf5/untrusted/schema.hpp"
#include "metrics/record_json.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::cli::plugins {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view verify_usage = "verify RUN_DIR|CHECKPOINT|FILE [--threads N] [--quiet]";

constexpr Example verify_examples[] = {{"trainrt verify runs/first", "all checkpoints and records of a run"},
                                       {"trainrt verify runs/first/checkpoint_000003", "one checkpoint"}};

constexpr CommandOption verify_options[] = {
    {"threads", "N", "threads that read a checkpoint, from 1 to 1024; default: one per core, at most 16"},
    {"quiet", "", "do not show the progress"}};

constexpr ExitNote verify_exit_codes[] = {{0, "no damage was found"},
                                          {64, "the path is not a run, a checkpoint or a known file"},
                                          {70, "a file is damaged; the output names it"}};

struct VerifyOptions {
  int threads = 1;
  bool quiet = false;
};

/// The result of checking a file or a directory.
struct Findings {
  std::vector<std::string> damage;
  std::vector<std::string> notes;
};

/// Prints the result for `path`, followed by `summary`. Returns whether `path` is undamaged.
bool print_findings(const std::string& path, const Findings& findings, std::string_view summary = "") {
  print_safely("{}  {}{}\n", findings.damage.empty() ? "ok      " : "DAMAGED ", path, summary);
  for (const auto& line : findings.damage) print_safely("          {}\n", line);
  for (const auto& line : findings.notes) print_safely("          note: {}\n", line);
  std::fflush(stdout);
  return findings.damage.empty();
}

bool verify_checkpoint(const fs::path& directory, const VerifyOptions& options) {
  ProgressLine progress("verify " + directory.filename().string(), options.quiet);
  Findings findings;
  findings.damage = checkpoint::verify(directory, options.threads,
                                       [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
  progress.end();
  try {
    findings.notes = checkpoint::unlisted_files(directory);
  } catch (const Error&) {  // a damaged manifest is reported by verify()
  }
  const bool without_view = !checkpoint::has_view(directory);
  if (without_view)
    findings.notes.emplace_back(
        "state.h5, the combined view for HDF5 tools, is missing. No data is missing; the next start of the run writes the "
        "file");
  return print_findings(directory, findings, without_view ? " (without state.h5)" : "");
}

bool verify_metrics(const fs::path& path) { return print_findings(path, {io::check_schema(path, "metrics"), {}}); }

bool verify_predictions(const fs::path& path) {
  Findings findings{io::check_schema(path, "predictions"), {}};
  if (!findings.damage.empty())
    findings.notes.emplace_back(
        "this file was verified as output of trainrt predict. If it is output of trainrt export, verify the checkpoint or "
        "run from which it was made");
  return print_findings(path, findings);
}

Findings check_run_record(const fs::path& run) try {
  rundir::read_run_record(run);
  return {};
} catch (const Error& error) {
  return {{error.what()}, {}};
}

/// Checks that line n of result.json is the record of iteration n.
Findings check_result_log(const fs::path& path) try {
  const auto text = io::read_file(path);
  Findings findings;
  std::int64_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    ++line;
    const auto end = text.find('\n', at);
    if (end == std::string::npos) {
      findings.notes.push_back(fmt::format("line {} is incomplete: it is being written, or its writer was killed", line));
      break;
    }
    const auto record = metrics::from_json(std::string_view(text).substr(at, end - at));
    if (!record)
      findings.damage.push_back(fmt::format("'{}': line {} is not a valid record", path.string(), line));
    else if (record->iteration != line)
      findings.damage.push_back(fmt::format("'{}': line {} has iteration {}", path.string(), line, record->iteration));
    if (findings.damage.size() == 10) break;
    at = end + 1;
  }
  return findings;
} catch (const Error& error) {
  return {{error.what()}, {}};
}

/// Checks that the records of all attempts can be read. read_attempts() logs the reason if one cannot be read.
Findings check_attempts(const fs::path& run) {
  std::set<std::string> readable;
  for (const auto& record : rundir::read_attempts(run)) readable.insert(rundir::attempt_name(record.number) + ".json");
  Findings findings;
  for (const auto& name : io::list_directory(run / "attempts"))
    if (name.ends_with(".json") && !name.starts_with('.') && !readable.contains(name))
      findings.damage.push_back(
          fmt::format("'{}' is not a valid record of an attempt", (run / "attempts" / name).string()));
  return findings;
}

bool verify_run(const fs::path& run, const VerifyOptions& options) {
  bool is_intact = true;
  for (const auto number : checkpoint::numbers_in(run))
    is_intact = verify_checkpoint(run / checkpoint::directory_name(number), options) && is_intact;
  if (const auto path = run / "run.json"; io::exists(path))
    is_intact = print_findings(path, check_run_record(run)) && is_intact;
  if (const auto path = run / "result.json"; io::exists(path))
    is_intact = print_findings(path, check_result_log(path)) && is_intact;
  if (const auto path = run / "attempts"; io::exists(path))
    is_intact = print_findings(path, check_attempts(run)) && is_intact;
  if (const auto path = run / "metrics.h5"; io::exists(path)) is_intact = verify_metrics(path) && is_intact;
  return is_intact;
}

/// Returns advice for an error about `path`, if its extension is one of `trainrt export`; "" for other paths.
std::string advice_for_export(const fs::path& path) {
  if (!fs::is_regular_file(path) || find_exporter(path.string()) == nullptr) return "";
  return ". Exports are checked while they are written: verify the checkpoint or run from which this file was made";
}

int thread_count(const Arguments& arguments) {
  const auto found = arguments.options.find("threads");
  if (found == arguments.options.end()) return std::min(cpus_of_this_thread(), 16);
  const auto count = parse_integer(found->second);
  if (!count || *count < 1 || *count > 1024)
    throw UsageError(fmt::format("invalid --threads '{}': expected a number from 1 to 1024", excerpt(found->second, 60)));
  return static_cast<int>(*count);
}

ExitCode verify_command(std::span<const std::string> words) {
  const auto arguments =
      parse_arguments(words, {.options = verify_options, .min_operands = 1, .max_operands = 1, .usage = verify_usage});
  const VerifyOptions options{thread_count(arguments), arguments.has("quiet")};
  require_existing(arguments.operands[0]);
  std::error_code error;
  const auto path = fs::canonical(arguments.operands[0], error);
  if (error) throw UsageError(fmt::format("'{}': {}", arguments.operands[0], error.message()));
  const GuardedTree guarded(path);
  bool is_intact = false;
  if (fs::is_regular_file(path) && path.filename() == "metrics.h5")
    is_intact = verify_metrics(path);
  else if (fs::is_regular_file(path) && path.extension() == ".h5")
    is_intact = verify_predictions(path);
  else if (io::exists(path / checkpoint::manifest_name) || checkpoint::number_of(path.filename()))
    is_intact = verify_checkpoint(path, options);
  else if (fs::is_directory(path) && (io::exists(path / "run.json") || checkpoint::highest_number(path) >= 0))
    is_intact = verify_run(path, options);
  else
    throw UsageError(
        fmt::format("'{}' is not a run directory (run.json), a checkpoint (manifest.json), a metrics.h5, or an .h5 file of "
                    "predictions{}",
                    path.string(), advice_for_export(path)));
  return is_intact ? ExitCode::finished : ExitCode::failed;
}

}  // namespace

extern const Command verify;
const Command verify{
    .name = "verify",
    .group = CommandGroup::checkpoints,
    .order = 1,
    .usage = verify_usage,
    .help = "check the checksums and schemas of a checkpoint, a run or an .h5 file",
    .examples = verify_examples,
    .options = verify_options,
    .notes =
        "FILE is the metrics.h5 of a run, or an .h5 file that trainrt predict has written. A file of trainrt export is "
        "checked while "
        "it is written: verify the checkpoint or run from which it was made.\n"
        "A missing state.h5, which the next start of the run writes again, and files that do not belong to a checkpoint "
        "are reported as notes. They are not damage.\n",
    .exit_codes = verify_exit_codes,
    .run = verify_command};

}  // namespace trainrt::cli::plugins
