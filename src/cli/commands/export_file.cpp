// trainrt export: writes a checkpoint as one file for other programs. (`export` is a keyword of C++.)
#include <fmt/format.h>

#include "batch/signals.hpp"
#include "cli/checkpoints/exporter.hpp"
#include "cli/checkpoints/find_checkpoint.hpp"
#include "cli/checkpoints/select_entries.hpp"
#include "cli/checkpoints/user_file_export.hpp"
#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/terminal/print.hpp"
#include "cli/terminal/progress_line.hpp"
#include "core/output/log.hpp"
#include "core/text/byte_size.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view export_file_usage =
    "export CHECKPOINT|RUN_DIR -o FILE.h5|FILE.safetensors|FILE.npz|FILE [--best[=METRIC[:min|max]]] [--tensors "
    "PATTERN,...] [--force] "
    "[--quiet]";

/// Copies a file that the train function has written into the checkpoint.
ExitCode export_own_file(const std::string& path, const std::string& directory, const Arguments& arguments) {
  const auto manifest = checkpoint::read_manifest(directory);
  const auto* record = find_user_file(path, manifest);
  if (record == nullptr) throw_unknown_extension(path, user_file_names(manifest));
  if (arguments.has("tensors"))
    throw UsageError(fmt::format("--tensors does not apply to '{}': {} is copied unchanged", path, record->name));
  AtomicFile file(path, arguments.has("force"));
  batch::install_stop_signals();
  ProgressLine progress("export", arguments.has("quiet"));
  export_user_file(directory, *record, file, [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
  file.commit();
  progress.end();
  print_safely("{}: {} of {}, {}\n", path, record->name, directory, byte_size(file.bytes()));
  return ExitCode::finished;
}

ExitCode export_tensors(const Exporter& exporter, const std::string& path, const std::string& directory,
                        const Arguments& arguments) {
  AtomicFile file(path, arguments.has("force"));
  const checkpoint::PieceReader reader(directory);
  const auto patterns = arguments.options.find("tensors");
  const auto selected =
      select_entries(reader, patterns == arguments.options.end() ? std::vector<std::string>() : words_in(patterns->second));
  batch::install_stop_signals();
  ProgressLine progress("export", arguments.has("quiet"));
  const ExportSource source(reader, selected.tensors, selected.values,
                            [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
  const auto notes = exporter.write(source, file);
  file.commit();
  progress.end();
  for (const auto& note : notes) log::info(note);
  print_safely("{}: {} and {} of {}, {}\n", path, counted(std::ssize(selected.tensors), "tensor"),
               counted(std::ssize(selected.values), "value"), directory, byte_size(file.bytes()));
  return ExitCode::finished;
}

ExitCode export_command(std::span<const std::string> words) {
  const auto arguments = parse_arguments(words, {.with_value = {"output", "tensors"},
                                                 .switches = {"best", "force", "quiet"},
                                                 .optional_value = {"best"},
                                                 .min_operands = 1,
                                                 .max_operands = 1,
                                                 .usage = std::string(export_file_usage)});
  if (!arguments.has("output")) throw UsageError(fmt::format("missing -o FILE; usage: trainrt {}", export_file_usage));
  const auto& path = arguments.options.at("output");
  const auto& source = arguments.operands[0];
  const auto directory =
      arguments.has("best") ? find_best_checkpoint(source, arguments.options.at("best")) : find_checkpoint(source);
  const auto* exporter = find_exporter(path);
  return exporter == nullptr ? export_own_file(path, directory, arguments)
                             : export_tensors(*exporter, path, directory, arguments);
}

}  // namespace

extern const Command export_file;
const Command export_file{
    .name = "export",
    .usage = export_file_usage,
    .help = "write a checkpoint as one HDF5, safetensors or NumPy file",
    .details =
        "CHECKPOINT is a checkpoint directory. For a run directory, the newest checkpoint is exported, or with --best the\n"
        "best one by checkpoint.score_attribute. The extension of FILE selects the format; `trainrt list` shows all "
        "formats.\n"
        "--best=METRIC, --best=METRIC:min and --best=METRIC:max choose by another metric of the checkpoints.\n"
        "Entry `trainrt` of __metadata__ in a .safetensors file is a JSON text with the checkpoint's step and metrics.\n"
        "Tensors are complete; a per_rank tensor has an additional first axis, the rank.\n"
        "--tensors 'model/*,!*/bias' selects tensors and values by name. A pattern may contain *, ? and []; * also "
        "matches\n"
        "'/'. A pattern that begins with ! excludes names; the last pattern that matches a name decides.\n"
        "If FILE has the extension of a file that the train function has written into the checkpoint (model.ubj of\n"
        "xgboost), that file is copied unchanged.\n"
        "All bytes are checked, and FILE appears only when it is complete. --force replaces an existing file. --quiet "
        "shows\n"
        "no progress.\n",
    .run = export_command};

}  // namespace trainrt::cli::plugins
