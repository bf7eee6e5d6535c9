#include "cli/checkpoints/print_comparison.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/checkpoints/compare_checkpoints.hpp"
#include "cli/checkpoints/find_checkpoint.hpp"
#include "cli/terminal/print.hpp"
#include "cli/terminal/progress_line.hpp"
#include "cli/terminal/table.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli {

namespace {

using Json = nlohmann::ordered_json;

void print_as_json(const Comparison& found, const std::string& first, const std::string& second) {
  Json differences = Json::array();
  for (const auto& each : found.differences)
    differences.push_back({{"kind", each.kind}, {"name", each.name}, {"text", each.text}});
  print_json(Json{{"first", first},
                  {"second", second},
                  {"equal", found.differences.empty()},
                  {"tensors", found.tensors},
                  {"values", found.values},
                  {"files", found.files},
                  {"differences", differences}});
}

void print_as_text(const Comparison& found, const std::string& first, const std::string& second) {
  print_safely("first   {}\nsecond  {}\n\n", first, second);
  Table table({{"differs"}, {"name"}, {"difference"}});
  for (const auto& each : found.differences) table.add({each.kind, printable(each.name), each.text});
  const auto compared = fmt::format("{}, {}, {}", counted(static_cast<std::int64_t>(found.tensors), "tensor"),
                                    counted(static_cast<std::int64_t>(found.values), "value"),
                                    counted(static_cast<std::int64_t>(found.files), "file"));
  if (found.differences.empty())
    print_safely("equal bit by bit: {}\n", compared);
  else
    print_safely("{}\n{} in {}\n", table.text(), counted(std::ssize(found.differences), "difference"), compared);
}

}  // namespace

ExitCode print_comparison(const checkpoint::PieceReader& reader, const std::string& directory,
                          const std::vector<std::string>& pattern, const Arguments& arguments) {
  if (arguments.has("stats")) throw UsageError("--stats and --compare cannot be used together");
  const auto other_directory = find_checkpoint(arguments.options.at("compare"));
  const checkpoint::PieceReader other(other_directory);
  ProgressLine progress("compare", arguments.has("quiet"));
  const auto found =
      compare_checkpoints(reader, other, pattern, [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
  progress.end();
  arguments.has("json") ? print_as_json(found, directory, other_directory)
                        : print_as_text(found, directory, other_directory);
  return found.differences.empty() ? ExitCode::finished : ExitCode::failed;
}

}  // namespace trainrt::cli
