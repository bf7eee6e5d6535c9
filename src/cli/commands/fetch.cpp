// trainrt fetch: copies a checkpoint, a run or another folder of an object store into a new folder, and verifies it.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/verify.hpp"
#include "cli/checkpoints/remote_folder.hpp"
#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/config/config_file.hpp"
#include "cli/terminal/print.hpp"
#include "cli/terminal/progress_line.hpp"
#include "cli/tune/given_mirror_keys.hpp"
#include "config/section.hpp"
#include "core/options.hpp"
#include "core/output/log.hpp"
#include "core/text/byte_size.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "io/files/temporary.hpp"
#include "io/storage_url.hpp"
#include "trainer/datasets/listed_datasets.hpp"

namespace trainrt::cli::plugins {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view fetch_usage = "fetch URL -o NEW_FOLDER [OPTION...]";

constexpr Example fetch_examples[] = {
    {"trainrt fetch s3://bucket/runs/first/checkpoint_000003 -o best", "a checkpoint of a mirrored run"},
    {"trainrt fetch s3://bucket/runs/first -o first --files '*.json'", "the records of a run"}};

constexpr CommandOption fetch_options[] = {
    {"output", "FOLDER", "new folder, or an empty one (required)"},
    {"files", "PATTERN,...",
     "copy only files whose paths below URL match these patterns: '*.json,!attempts/*'. A pattern that begins with ! "
     "excludes files; * also matches '/'. Checksums are then not verified"},
    {"empty-ok", "", "make an empty folder if nothing is stored at URL, instead of an error"},
    {"--storage.key=value", "", "set a key of [storage], such as --storage.s3_endpoint=http://host:9000"},
    {"quiet", "", "do not show the progress"}};

constexpr ExitNote fetch_exit_codes[] = {
    {0, "copied"},
    {64, "invalid arguments, or nothing is stored at URL"},
    {70, "the store or the disk failed, or a checkpoint is damaged or incomplete; no folder was made"}};

/// A new folder that appears under its name only when it is complete. Without commit(), its files are removed; files of a
/// killed process are removed by the next NewFolder of that name.
class NewFolder {
 public:
  /// Throws UsageError if `path` exists and is not an empty directory.
  explicit NewFolder(const std::string& path) : path_(free_path(path)), temporary_(io::temporary_beside(path_)) {
    const auto parent = fs::path(path_).parent_path().string();
    io::make_directories(parent);
    io::remove_abandoned(parent, fs::path(path_).filename().string() + ".tmp.");
    io::remove_tree(temporary_);
    io::make_directories(temporary_);
  }
  ~NewFolder() {
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
  }
  NewFolder(const NewFolder&) = delete;

  const std::string& temporary_path() const { return temporary_; }
  void commit() {
    io::sync_directory(temporary_);
    io::rename_over(temporary_, path_);
  }

 private:
  static std::string free_path(const std::string& path) {
    const auto full = fs::absolute(path).lexically_normal();
    const auto text = (full.has_filename() ? full : full.parent_path()).string();
    if (io::exists(text) && (!fs::is_directory(text) || !io::list_directory(text).empty()))
      throw UsageError(fmt::format("'{}' exists and is not an empty folder: choose another -o FOLDER", path));
    return text;
  }

  std::string path_, temporary_;
};

/// Uses the keys of [storage] in `words`, of the form --storage.key=value.
void take_store_keys(const std::vector<std::string>& words) {
  Options given;
  for (const auto& word : words) {
    if (!word.starts_with("--storage."))
      throw UsageError(fmt::format("'{}' does not apply to `trainrt fetch`: only keys of [storage] do", excerpt(word, 60)));
    apply_override(given, word);
  }
  const auto& section = find_plugin(config::section_table(), "storage", "section");
  std::vector<OptionSpec> declared;
  for (const auto& key : section.keys) declared.push_back(key.option);
  const auto options = checked(given, declared, "");
  config::RunSpec spec;
  for (const auto& key : section.keys)
    if (const auto* value = options.find(key.option.key)) key.take(value->text, spec);
  trainer::use_stores(spec);
}

/// Returns whether `folder` has files of a checkpoint, but no manifest. The upload of a checkpoint ends with the manifest.
/// A folder of another program may have the name of a checkpoint, but has other files.
bool is_incomplete(const std::string& folder) {
  const auto names = io::list_directory(folder);
  return std::ranges::all_of(names, [](const std::string& name) {
    return name.starts_with("shard-") || name == checkpoint::view_name || name == checkpoint::files_folder ||
           name == checkpoint::validation_name || name == ".metadata.json";
  });
}

void verify_checkpoint(const std::string& folder, const std::string& url) {
  if (!io::exists(folder + "/" + checkpoint::manifest_name)) return;
  if (const auto damage = checkpoint::verify(folder); !damage.empty())
    throw Error(fmt::format("the checkpoint {} is damaged: {}", url, damage.front()));
}

/// Throws Error if `folder`, which was copied from `url`, is an incomplete or damaged checkpoint, or a run with a damaged
/// one. Removes incomplete checkpoints of a run from `folder`, with a warning.
void verify_checkpoints(const std::string& folder, const std::string& url) {
  if (checkpoint::number_of(fs::path(io::storage_url(url)->name + "/").parent_path().filename().string()) &&
      is_incomplete(folder))
    throw Error(fmt::format("the checkpoint {} is incomplete: it has no {}", url, checkpoint::manifest_name));
  verify_checkpoint(folder, url);
  const bool is_run = io::exists(folder + "/run.json");
  for (const auto number : checkpoint::numbers_in(folder)) {
    const auto name = checkpoint::directory_name(number);
    if (is_run && is_incomplete(folder + "/" + name)) {
      log::warning(fmt::format("the checkpoint {} is incomplete and was not copied: it has no {}", io::url_below(url, name),
                               checkpoint::manifest_name));
      io::remove_tree(folder + "/" + name);
    } else {
      verify_checkpoint(folder + "/" + name, io::url_below(url, name));
    }
  }
}

void copy_all(const RemoteFolder& source, const std::string& folder, bool is_quiet) {
  ProgressLine progress("fetch", is_quiet);
  std::uint64_t done = 0;
  source.copy_to(folder, [&](std::uint64_t bytes) {
    if (const int signal = batch::stop_signal(); signal != 0)
      throw Error(fmt::format("stopped by {}: nothing was copied", batch::signal_name(signal)));
    progress.show(done += bytes, source.bytes());
  });
}

ExitCode fetch_command(std::span<const std::string> words) {
  const auto arguments = parse_arguments(
      words, {.options = fetch_options, .min_operands = 1, .max_operands = 1, .overrides = true, .usage = fetch_usage});
  if (!arguments.has("output")) throw UsageError(fmt::format("missing option: -o FOLDER; usage: trainrt {}", fetch_usage));
  take_store_keys(arguments.overrides);
  take_given_mirror_keys();
  const auto& url = arguments.operands[0];
  const auto patterns = arguments.options.find("files");
  const RemoteFolder source(url,
                            patterns == arguments.options.end() ? std::vector<std::string>() : words_in(patterns->second));
  if (source.count() == 0 && !arguments.has("empty-ok"))
    throw UsageError(fmt::format("nothing to copy: no {} stored at '{}'",
                                 patterns == arguments.options.end() ? "file is" : "such file is", source.url()));
  batch::install_stop_signals();
  const auto& output = arguments.options.at("output");
  NewFolder folder(output);
  copy_all(source, folder.temporary_path(), arguments.has("quiet"));
  if (patterns == arguments.options.end()) verify_checkpoints(folder.temporary_path(), url);
  folder.commit();
  print_safely("{}: {} of {}, {}\n", output, counted(static_cast<std::int64_t>(source.count()), "file"), source.url(),
               byte_size(source.bytes()));
  return ExitCode::finished;
}

}  // namespace

extern const Command fetch;
const Command fetch{
    .name = "fetch",
    .group = CommandGroup::checkpoints,
    .order = 5,
    .usage = fetch_usage,
    .help = "copy a checkpoint or a run from an object store into a folder",
    .examples = fetch_examples,
    .options = fetch_options,
    .notes =
        "URL is s3://BUCKET/KEY, gs://BUCKET/KEY or file:///PATH: a mirrored run (checkpoint.mirror), one of its "
        "checkpoints, or any other folder. Checksums of checkpoints are verified. An incomplete checkpoint is an error; in "
        "the copy of a run, it is left out.\nCredentials come from the environment or ~/.aws, as for datasets.\n",
    .exit_codes = fetch_exit_codes,
    .run = fetch_command};

}  // namespace trainrt::cli::plugins
