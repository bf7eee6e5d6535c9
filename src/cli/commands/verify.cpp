// Checksums and schemas of a checkpoint, of all checkpoints of a run, or of a metrics file.
#include <filesystem>

#include <fmt/format.h>

#include "checkpoint/checkpoint.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "io/schema.hpp"

namespace trainrt::cli::plugins {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view usage = "verify PATH";

bool tell(const std::string& path, const std::vector<std::string>& findings) {
  fmt::print("{}  {}\n", findings.empty() ? "ok      " : "DAMAGED ", path);
  for (const auto& finding : findings) fmt::print("          {}\n", finding);
  return findings.empty();
}

bool verify_run(const fs::path& run) {
  bool whole = true;
  for (std::int64_t index = 0; index <= checkpoint::highest_index(run.string()); ++index) {
    const auto directory = run / checkpoint::directory_name(index);
    if (fs::is_directory(directory)) whole = tell(directory.string(), checkpoint::verify(directory.string())) && whole;
  }
  const auto metrics = run / "metrics.h5";
  if (fs::exists(metrics)) whole = tell(metrics.string(), io::check_schema(metrics.string(), "metrics")) && whole;
  return whole;
}

ExitCode verify_command(std::span<const std::string> words) {
  const auto arguments = parse_arguments(
      words, {.with_value = {}, .switches = {}, .least_operands = 1, .most_operands = 1, .usage = std::string(usage)});
  std::error_code error;
  auto path = fs::canonical(arguments.operands[0], error);
  if (error) throw UsageError(fmt::format("'{}': {}", arguments.operands[0], error.message()));
  bool whole = false;
  if (fs::is_regular_file(path) && path.filename() == "metrics.h5")
    whole = tell(path.string(), io::check_schema(path.string(), "metrics"));
  else if (fs::exists(path / "run.json"))
    whole = verify_run(path);
  else if (fs::exists(path / "manifest.json"))
    whole = tell(path.string(), checkpoint::verify(path.string()));
  else
    throw UsageError(path.string() +
                     " is neither a run directory (run.json), a checkpoint (manifest.json) nor a metrics.h5");
  return whole ? ExitCode::finished : ExitCode::failed;
}

}  // namespace

extern const Command verify;
const Command verify{.name = "verify",
                     .usage = usage,
                     .help = "checksums and schema of a checkpoint, of a run's checkpoints, or of a metrics file",
                     .details = "Exit code 0: everything is whole; 70: something is damaged, and named.\n",
                     .run = verify_command};

}  // namespace trainrt::cli::plugins
