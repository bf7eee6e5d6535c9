// trainrt inspect: shows the content of a checkpoint, where its tensors are stored, and statistics of their elements.
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "checkpoint/format/validation.hpp"
#include "cli/checkpoints/find_checkpoint.hpp"
#include "cli/checkpoints/print_comparison.hpp"
#include "cli/checkpoints/select_entries.hpp"
#include "cli/checkpoints/tensor_statistics.hpp"
#include "cli/checkpoints/tensor_stream.hpp"
#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/terminal/print.hpp"
#include "cli/terminal/progress_line.hpp"
#include "cli/terminal/table.hpp"
#include "core/text/byte_size.hpp"
#include "core/text/json_number.hpp"

namespace trainrt::cli::plugins {

using checkpoint::PieceReader;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view inspect_usage =
    "inspect CHECKPOINT|RUN_DIR [--tensor PATTERN] [--stats | --compare OTHER] [OPTION...]";

constexpr Example inspect_examples[] = {
    {"trainrt inspect runs/first", "the newest checkpoint of a run"},
    {"trainrt inspect runs/first --tensor 'model/*' --stats", "some of its tensors"},
    {"trainrt inspect runs/first --compare runs/second", "whether both have the same bits"}};

constexpr CommandOption inspect_options[] = {
    {"tensor", "PATTERN",
     "show only the tensors and values with this name, and the files that store the slabs of the tensors. A pattern may "
     "contain *, ? and []; * also matches '/'"},
    {"stats", "",
     "read the tensors and show minimum, maximum, mean and standard deviation (of the population) of their finite "
     "elements, and the numbers of NaN, infinite and zero elements"},
    {"compare", "OTHER",
     "compare the tensors, values and files of two checkpoints bit by bit, and show those that differ. OTHER is the second "
     "checkpoint, or a run, of which the newest checkpoint is compared"},
    {"json", "", "print one JSON object"},
    {"quiet", "", "do not show the progress"}};

constexpr ExitNote inspect_exit_codes[] = {
    {0, "done; with --compare: all bits are equal"},
    {64, "no such checkpoint"},
    {70, "a file that was read is damaged; with --compare also if the checkpoints differ"}};

/// The data that the text output and the JSON output show.
struct Inspection {
  std::string directory;
  const PieceReader& reader;
  SelectedEntries selected;
  bool with_slabs = false;
  std::map<const PieceReader::Tensor*, TensorStatistics> statistics;  ///< of all selected tensors, or empty

  const checkpoint::Manifest& manifest() const { return reader.manifest(); }
  checkpoint::Meta meta() const { return checkpoint::with_validation(manifest().meta, directory); }
  const std::string& shard_of(const PieceReader::StoredSlab& piece) const { return manifest().shards[piece.shard].name; }
};

std::uint64_t bytes_on_disk(const checkpoint::Manifest& manifest) {
  std::uint64_t bytes = 0;
  for (const auto& shard : manifest.shards) bytes += shard.bytes;
  for (const auto& file : manifest.files) bytes += file.bytes;
  return bytes;
}

std::map<const PieceReader::Tensor*, TensorStatistics> compute_statistics(const PieceReader& reader, const Tensors& tensors,
                                                                          bool quiet) {
  std::map<const PieceReader::Tensor*, StatisticsGatherer> gatherers;
  std::uint64_t all = 0;
  for (const auto* tensor : tensors) {
    gatherers.emplace(tensor, StatisticsGatherer(tensor->dtype));
    all += bytes_of(*tensor);
  }
  ProgressLine progress("statistics", quiet);
  std::uint64_t done = 0;
  stream_tensors(reader, tensors, [&](const TensorPiece& piece) {
    gatherers.at(&piece.tensor).add(piece.bytes);
    progress.show(done += piece.bytes.size(), all);
  });
  std::map<const PieceReader::Tensor*, TensorStatistics> statistics;
  for (const auto& [tensor, gatherer] : gatherers) statistics[tensor] = gatherer.result();
  return statistics;
}

// --- JSON output -------------------------------------------------------------------------------------------------------

Json json_of(double number) { return json_of_number(number); }
Json json_of(std::int64_t number) { return number; }
Json json_of(bool flag) { return flag; }
Json json_of(const std::string& text) { return text; }
Json json_of(const std::optional<double>& number) { return number ? json_of(*number) : Json(); }
Json json_of(const std::optional<TensorStatistics::Number>& number) {
  return number ? std::visit([](auto n) { return json_of(n); }, *number) : Json();
}

Json json_of(const TensorStatistics& found) {
  return {{"count", found.count},
          {"min", json_of(found.min)},
          {"max", json_of(found.max)},
          {"mean", json_of(found.mean)},
          {"std", json_of(found.deviation)},
          {"nan", found.nan},
          {"infinite", found.infinite},
          {"zero", found.zero}};
}

Json json_of(const Inspection& inspection, const PieceReader::Tensor& tensor) {
  Json json = {{"name", tensor.name},
               {"dtype", trainrt::name_of(tensor.dtype)},
               {"shape", tensor.shape},
               {"placement", tensor.placement},
               {"bytes", bytes_of(tensor)}};
  if (inspection.with_slabs)
    for (const auto& piece : tensor.slabs)
      json["slabs"].push_back({{"shard", inspection.shard_of(piece)},
                               {"rank", piece.rank},
                               {"offset", piece.box.offset},
                               {"shape", piece.box.shape}});
  if (const auto found = inspection.statistics.find(&tensor); found != inspection.statistics.end())
    json["statistics"] = json_of(found->second);
  return json;
}

Json json_of(const Inspection& inspection) {
  const auto& manifest = inspection.manifest();
  const auto meta = inspection.meta();
  Json metrics = Json::object();
  for (const auto& [name, value] : meta.metrics) metrics[name] = json_of(value);
  Json shards = Json::array();
  for (const auto& shard : manifest.shards) {
    Json ranks = Json::array();
    for (const auto& part : shard.parts) ranks.push_back(part.rank);
    shards.push_back({{"name", shard.name}, {"bytes", shard.bytes}, {"ranks", ranks}});
  }
  Json files = Json::array();
  for (const auto& file : manifest.files)
    files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"rank", file.rank < 0 ? Json() : Json(file.rank)}});
  Json tensors = Json::array();
  for (const auto* tensor : inspection.selected.tensors) tensors.push_back(json_of(inspection, *tensor));
  Json values = Json::array();
  for (const auto* value : inspection.selected.values)
    values.push_back({{"name", value->name},
                      {"dtype", value->dtype},
                      {"value", std::visit([](const auto& v) { return json_of(v); }, value->value)}});
  const bool is_of_run = meta.attempt > 0;
  return {{"directory", inspection.directory},
          {"index", meta.number},
          {"iteration", is_of_run ? Json(meta.iteration) : Json()},
          {"step", is_of_run ? Json(meta.step) : Json()},
          {"ranks", meta.ranks},
          {"attempt", is_of_run ? Json(meta.attempt) : Json()},
          {"created", meta.created},
          {"bytes", bytes_on_disk(manifest)},
          {"metrics", metrics},
          {"metadata", Json::parse(meta.metadata)},
          {"validation", meta.validation.empty() ? Json() : Json(meta.awaits_validation ? "awaited" : "done")},
          {"shards", shards},
          {"files", files},
          {"tensors", tensors},
          {"values", values}};
}

// --- text output --------------------------------------------------------------------------------------------------------

std::string text_of(double number) { return fmt::format("{:.6g}", number); }
std::string text_of(std::int64_t number) { return fmt::format("{}", number); }
std::string text_of(const std::optional<double>& number) { return number ? text_of(*number) : "-"; }
std::string text_of(const std::optional<TensorStatistics::Number>& number) {
  return number ? std::visit([](auto n) { return text_of(n); }, *number) : "-";
}

std::string text_of(const PieceReader::Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return std::visit([](const auto& v) { return json_of(v).dump(-1, ' ', false, Json::error_handler_t::replace); }, value);
}

void print_record(const Inspection& inspection) {
  const auto& manifest = inspection.manifest();
  const auto meta = inspection.meta();
  print_safely("checkpoint  {}\nindex       {}\n", inspection.directory, meta.number);
  if (meta.attempt > 0)
    print_safely("iteration   {}\nstep        {}\nattempt     {}\n", meta.iteration, meta.step, meta.attempt);
  else
    print_safely("saved by    a CheckpointStore, which counts saves (index) instead of steps\n");
  print_safely("ranks       {}\ncreated     {}\n", meta.ranks, meta.created);
  print_safely("bytes       {} ({}) in {} shard{}\n", bytes_on_disk(manifest), byte_size(bytes_on_disk(manifest)),
               manifest.shards.size(), manifest.shards.size() == 1 ? "" : "s");
  for (const auto& [name, value] : meta.metrics) print_safely("metric      {} = {}\n", printable(name), text_of(value));
  if (!meta.validation.empty())
    print_safely("validation  {}\n", meta.awaits_validation ? "awaited" : "done; its metrics are included above");
  if (meta.metadata != "{}") print_safely("metadata    {}\n", Json::parse(meta.metadata).dump());
  for (const auto& file : manifest.files) print_safely("file        {}  {}\n", printable(file.name), byte_size(file.bytes));
  Table shards({{"shard"}, {"bytes", true}, {"written by rank"}});
  for (const auto& shard : manifest.shards) {
    std::vector<int> ranks;
    for (const auto& part : shard.parts) ranks.push_back(part.rank);
    shards.add({shard.name, std::to_string(shard.bytes), fmt::format("{}", fmt::join(ranks, " "))});
  }
  print_safely("\nshards\n{}", shards.text());
}

void print_tensors(const Inspection& inspection) {
  std::vector<Table::Column> columns{{"name"}, {"dtype"}, {"shape"}, {"placement"}, {"bytes", true}};
  const bool with_statistics = !inspection.statistics.empty();
  if (with_statistics)
    for (const auto* title : {"min", "max", "mean", "std", "nan", "inf", "zero"}) columns.push_back({title, true});
  Table table(columns);
  std::uint64_t bytes = 0;
  for (const auto* tensor : inspection.selected.tensors) {
    std::vector<std::string> cells{printable(tensor->name), std::string(trainrt::name_of(tensor->dtype)),
                                   to_string(tensor->shape), tensor->placement, std::to_string(bytes_of(*tensor))};
    if (with_statistics) {
      const auto& found = inspection.statistics.at(tensor);
      cells.insert(cells.end(), {text_of(found.min), text_of(found.max), text_of(found.mean), text_of(found.deviation),
                                 std::to_string(found.nan), std::to_string(found.infinite), std::to_string(found.zero)});
    }
    table.add(std::move(cells));
    bytes += bytes_of(*tensor);
  }
  if (!table.empty())
    print_safely("tensors ({}, {})\n{}", inspection.selected.tensors.size(), byte_size(bytes), table.text());
}

void print_slabs(const Inspection& inspection) {
  Table table({{"slab of"}, {"shard"}, {"rank", true}, {"offset"}, {"shape"}});
  for (const auto* tensor : inspection.selected.tensors)
    for (const auto& piece : tensor->slabs)
      table.add({printable(tensor->name), inspection.shard_of(piece), std::to_string(piece.rank),
                 to_string(piece.box.offset), to_string(piece.box.shape)});
  if (!table.empty()) print_safely("\nslabs\n{}", table.text());
}

void print_values(const Inspection& inspection) {
  Table table({{"name"}, {"dtype"}, {"value"}});
  for (const auto* value : inspection.selected.values)
    table.add({printable(value->name), value->dtype, text_of(value->value)});
  if (!table.empty()) print_safely("\nvalues\n{}", table.text());
}

ExitCode inspect_command(std::span<const std::string> words) {
  const auto arguments =
      parse_arguments(words, {.options = inspect_options, .min_operands = 1, .max_operands = 1, .usage = inspect_usage});
  const auto directory = find_checkpoint(arguments.operands[0]);
  const PieceReader reader(directory);
  const bool has_pattern = arguments.has("tensor");
  const auto pattern = has_pattern ? std::vector{arguments.options.at("tensor")} : std::vector<std::string>();
  if (arguments.has("compare")) return print_comparison(reader, directory, pattern, arguments);
  Inspection inspection{directory, reader, select_entries(reader, pattern), has_pattern, {}};
  if (arguments.has("stats"))
    inspection.statistics = compute_statistics(reader, inspection.selected.tensors, arguments.has("quiet"));
  if (arguments.has("json")) {
    print_json(json_of(inspection));
    return ExitCode::finished;
  }
  if (!has_pattern) {
    print_record(inspection);
    print_safely("\n");
  }
  print_tensors(inspection);
  if (has_pattern) print_slabs(inspection);
  print_values(inspection);
  return ExitCode::finished;
}

}  // namespace

extern const Command inspect;
const Command inspect{.name = "inspect",
                      .group = CommandGroup::checkpoints,
                      .order = 2,
                      .usage = inspect_usage,
                      .help = "show the tensors, values and metrics of a checkpoint",
                      .examples = inspect_examples,
                      .options = inspect_options,
                      .notes =
                          "CHECKPOINT is a checkpoint directory. For a run directory, the newest checkpoint is shown.\n"
                          "All bytes that are read are checked against their checksums.\n",
                      .exit_codes = inspect_exit_codes,
                      .run = inspect_command};

}  // namespace trainrt::cli::plugins
