// trainrt export: writes a checkpoint as one file for other programs. (`export` is a keyword of C++.)
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "checkpoint/layout.hpp"
#include "cli/checkpoints/exporter.hpp"
#include "cli/checkpoints/find_checkpoint.hpp"
#include "cli/checkpoints/select_entries.hpp"
#include "cli/checkpoints/user_file_export.hpp"
#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/terminal/print.hpp"
#include "cli/terminal/progress_line.hpp"
#include "core/options.hpp"
#include "core/output/log.hpp"
#include "core/text/byte_size.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view export_file_usage =
    "export CHECKPOINT|RUN_DIR -o FILE.h5|FILE.safetensors|FILE.npz|FILE [OPTION...]";

constexpr Example export_examples[] = {
    {"trainrt export runs/first -o model.safetensors", "the newest checkpoint"},
    {"trainrt export runs/first -o model.npz --tensors 'model/*' --rank 0", "the model of rank 0"}};

constexpr CommandOption export_options[] = {
    {"output", "FILE", "file to write (required). The extension selects the format: .h5, .safetensors or .npz"},
    {"best", "[=METRIC[:min|max]]",
     "export the best checkpoint of the run by METRIC, by default checkpoint.score_attribute; without --best the newest"},
    {"tensors", "PATTERN,...",
     "export only tensors and values with these names, such as 'model/*,!*/bias'. A pattern may contain *, ? and []; * "
     "also matches '/'. A pattern that begins with ! excludes names; the last pattern that matches a name decides"},
    {"rank", "N",
     "export the tensors of rank N where each rank has its own (per_rank), such as BatchNorm's running_mean. By default, "
     "such a tensor has an additional first axis with the tensors of all ranks"},
    {"force", "", "replace an existing file"},
    {"quiet", "", "do not show the progress"}};

constexpr ExitNote export_exit_codes[] = {
    {0, "written"}, {64, "invalid arguments, or no such checkpoint"}, {70, "the checkpoint is damaged, or writing failed"}};

/// Exports a file of the checkpoint that is not trainrt's own: the train function has written it.
ExitCode export_own_file(const std::string& path, const std::string& directory, const Arguments& arguments) {
  const auto manifest = checkpoint::read_manifest(directory);
  const auto* record = find_user_file(path, manifest);
  if (record == nullptr) throw_unknown_extension(path, user_file_names(manifest));
  for (const auto* option : {"tensors", "rank"})
    if (arguments.has(option))
      throw UsageError(fmt::format("--{} does not apply to '{}': {} is copied unchanged", option, path, record->name));
  AtomicFile file(path, arguments.has("force"));
  batch::install_stop_signals();
  ProgressLine progress("export", arguments.has("quiet"));
  export_user_file(directory, *record, file, [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
  file.commit();
  progress.end();
  print_safely("{}: {} of {}, {}\n", path, record->name, directory, byte_size(file.bytes()));
  return ExitCode::finished;
}

/// Returns the rank of --rank; nullopt without this option.
std::optional<int> chosen_rank(const Arguments& arguments) {
  if (!arguments.has("rank")) return {};
  const auto& text = arguments.options.at("rank");
  const auto rank = parse_integer(text);
  if (!rank || *rank < 0 || !std::in_range<int>(*rank))
    throw UsageError(fmt::format("invalid --rank '{}': expected a rank number, from 0", excerpt(text, 60)));
  return static_cast<int>(*rank);
}

/// Logs that per_rank tensors have an additional first axis in the file. torch's load_state_dict() does not accept such
/// tensors.
void note_rank_axis(const Tensors& tensors) {
  const auto is_own = [](const auto* tensor) { return tensor->placement == checkpoint::name_of(Placement::per_rank); };
  const auto first = std::ranges::find_if(tensors, is_own);
  if (first == tensors.end()) return;
  log::info(fmt::format(
      "tensors that each rank has for itself (per_rank), such as {} {}, have an additional first axis in the file; "
      "--rank=0 exports those of rank 0, without this axis",
      (*first)->name, to_string((*first)->shape)));
}

ExitCode export_tensors(const Exporter& exporter, const std::string& path, const std::string& directory,
                        const Arguments& arguments) {
  AtomicFile file(path, arguments.has("force"));
  const auto rank = chosen_rank(arguments);
  const checkpoint::PieceReader reader(directory, rank);
  const auto patterns = arguments.options.find("tensors");
  const auto selected =
      select_entries(reader, patterns == arguments.options.end() ? std::vector<std::string>() : words_in(patterns->second));
  const auto files = user_file_names(checkpoint::read_manifest(directory));
  if (selected.tensors.empty() && patterns == arguments.options.end() && !files.empty())
    throw UsageError(fmt::format(
        "'{}' would contain no tensor, because the train function saved the model of the checkpoint {} in these files: "
        "{}. To export one of them, use -o FILE with its extension",
        path, directory, files));
  batch::install_stop_signals();
  ProgressLine progress("export", arguments.has("quiet"));
  const ExportSource source(reader, selected.tensors, selected.values,
                            [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
  const auto notes = exporter.write(source, file);
  file.commit();
  progress.end();
  for (const auto& note : notes) log::info(note);
  if (!rank) note_rank_axis(selected.tensors);
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
        "CHECKPOINT is a checkpoint directory. For a run directory, the newest checkpoint is exported.\nEntry `trainrt` of "
        "__metadata__ in a .safetensors file is a JSON text with the checkpoint's step and metrics.\nWithout "
        "--tensors, the file also contains trainrt's own values, such as trainrt/step; --tensors 'model/*' leaves them "
        "out.\nThe file contains complete tensors, also if they are sharded in the checkpoint.\nIf FILE has the extension "
        "of a file that the train "
        "function has written into the checkpoint (model.ubj of xgboost), that file is copied unchanged.\nAll bytes are "
        "checked, and FILE appears only when it is complete.\n",
    .exit_codes = export_exit_codes,
    .run = export_command};

}  // namespace trainrt::cli::plugins
