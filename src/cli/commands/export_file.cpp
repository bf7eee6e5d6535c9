// A checkpoint as one plain file for other programs. (`export` itself is a word of C++.)
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "cli/files/plain_file.hpp"
#include "cli/inspect/choose_entries.hpp"
#include "cli/inspect/exporter.hpp"
#include "cli/inspect/find_checkpoint.hpp"
#include "cli/terminal/byte_progress.hpp"
#include "cli/terminal/print.hpp"
#include "cli/words/arguments.hpp"
#include "cli/words/command.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view export_file_usage =
    "export CHECKPOINT -o FILE.h5|FILE.safetensors|FILE.npz|FILE [--best] [--tensors PATTERN,...] [--force] [--quiet]";

/// A file of the train function's own, as it is.
ExitCode export_own_file(const std::string& path, const std::string& directory, const Arguments& arguments) {
  const auto manifest = checkpoint::read_manifest(directory);
  const auto* record = plain_file_for(path, manifest);
  if (record == nullptr) refuse_extension(path, plain_files_of(manifest));
  if (arguments.has("tensors")) throw UsageError("--tensors: " + record->name + " is copied as it is");
  NewFile file(path, arguments.has("force"));
  batch::install_stop_signals();
  ByteProgress progress("export", arguments.has("quiet"));
  export_plain_file(directory, *record, file, [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
  file.commit();
  progress.end();
  print_safely("{}: {} of {}, {}\n", path, record->name, directory, bytes_text(file.bytes()));
  return ExitCode::finished;
}

ExitCode export_command(std::span<const std::string> words) {
  std::vector<std::string> long_words(words.begin(), words.end());
  std::replace(long_words.begin(), long_words.end(), std::string("-o"), std::string("--output"));
  const auto arguments = parse_arguments(long_words, {.with_value = {"output", "tensors"},
                                                      .switches = {"best", "force", "quiet"},
                                                      .least_operands = 1,
                                                      .most_operands = 1,
                                                      .usage = std::string(export_file_usage)});
  if (!arguments.has("output")) throw UsageError(fmt::format("which file? usage: trainrt {}", export_file_usage));
  const auto& path = arguments.options.at("output");
  const auto& where = arguments.operands[0];
  const auto directory = arguments.has("best") ? find_best_checkpoint(where) : find_checkpoint(where);
  const auto* exporter = find_exporter(path);
  if (exporter == nullptr) return export_own_file(path, directory, arguments);
  NewFile file(path, arguments.has("force"));
  const checkpoint::PieceReader reader(directory);
  const auto chosen = choose_entries(
      reader, arguments.has("tensors") ? split_patterns(arguments.options.at("tensors")) : std::vector<std::string>());
  batch::install_stop_signals();
  ByteProgress progress("export", arguments.has("quiet"));
  const ExportSource source(reader, chosen.tensors, chosen.values,
                            [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
  const auto notes = exporter->write(source, file);
  file.commit();
  progress.end();
  for (const auto& note : notes) log::info(note);
  print_safely("{}: {} and {} of {}, {}\n", path, counted(static_cast<std::int64_t>(chosen.tensors.size()), "tensor"),
               counted(static_cast<std::int64_t>(chosen.values.size()), "value"), directory, bytes_text(file.bytes()));
  return ExitCode::finished;
}

}  // namespace

extern const Command export_file;
const Command export_file{
    .name = "export",
    .usage = export_file_usage,
    .help = "a checkpoint as one plain HDF5, safetensors or NumPy file",
    .details =
        "CHECKPOINT is a checkpoint directory, or a run directory: its newest, or with --best the best by\n"
        "checkpoint.score_attribute. The file's ending says the format "
        "(`trainrt\n"
        "list` shows all). Tensors are whole, per_rank ones with a first axis over the ranks. --tensors 'model/*,!*/bias'\n"
        "chooses by name: * ? [] (* crosses '/'), the last pattern that matches decides, ! keeps out. All bytes are "
        "checked\n"
        "on the way; the file appears whole or not at all. An ending that a file of the train function's own has "
        "(model.ubj\n"
        "of xgboost) copies that one as it is, once its digest is checked. --force replaces one that is there.\n",
    .run = export_command};

}  // namespace trainrt::cli::plugins
