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
    "export CHECKPOINT|RUN_DIR -o FILE.h5|FILE.safetensors|FILE.npz|FILE [OPTION...]";

constexpr Example export_examples[] = {
    {"trainrt export runs/first -o model.safetensors", "the newest checkpoint of a run"},
    {"trainrt export runs/first --best -o best.npz --tensors 'model/*'", "only the model"}};

constexpr CommandOption export_options[] = {
    {"output", "FILE", "file to write (required). The extension selects the format: .h5, .safetensors or .npz"},
    {"best", "[=METRIC[:min|max]]",
     "export the best checkpoint of the run by METRIC, by default checkpoint.score_attribute; without --best the newest"},
    {"tensors", "PATTERN,...",
     "export only tensors and values with these names, such as 'model/*,!*/bias'. A pattern may contain *, ? and []; * "
     "also matches '/'. A pattern that begins with ! excludes names; the last pattern that matches a name decides"},
    {"force", "", "replace an existing file"},
    {"quiet", "", "do not show the progress"}};

constexpr ExitNote export_exit_codes[] = {
    {0, "written"}, {64, "invalid arguments, or no such checkpoint"}, {70, "the checkpoint is damaged, or writing failed"}};

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
  const auto files = user_file_names(checkpoint::read_manifest(directory));
  if (selected.tensors.empty() && patterns == arguments.options.end() && !files.empty())
    throw UsageError(
        fmt::format("'{}' would contain no tensor: the checkpoint {} has its model in files of the train function: "
                    "{}. Export one of them with -o FILE and its extension",
                    path, directory, files));
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
  const auto arguments =
      parse_arguments(words, {.options = export_options, .min_operands = 1, .max_operands = 1, .usage = export_file_usage});
  if (!arguments.has("output"))
    throw UsageError(fmt::format("missing option: -o FILE; usage: trainrt {}", export_file_usage));
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
    .group = CommandGroup::checkpoints,
    .order = 3,
    .usage = export_file_usage,
    .help = "write a checkpoint as one HDF5, safetensors or NumPy file",
    .examples = export_examples,
    .options = export_options,
    .notes =
        "CHECKPOINT is a checkpoint directory. For a run directory, the newest checkpoint is exported.\n"
        "Entry `trainrt` of __metadata__ in a .safetensors file is a JSON text with the checkpoint's step and metrics.\n"
        "Tensors are complete; a per_rank tensor has an additional first axis, the rank.\n"
        "If FILE has the extension of a file that the train function has written into the checkpoint (model.ubj of "
        "xgboost), that file is copied unchanged.\n"
        "All bytes are checked, and FILE appears only when it is complete.\n",
    .exit_codes = export_exit_codes,
    .run = export_command};

}  // namespace trainrt::cli::plugins
