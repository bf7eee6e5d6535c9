#include "cli/find_checkpoint.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "io/file.hpp"

namespace trainrt::cli {

namespace fs = std::filesystem;

std::string find_checkpoint(const std::string& path) {
  std::error_code error;
  const auto directory = fs::canonical(path, error);
  if (error) throw UsageError(fmt::format("'{}': {}", path, error.message()));
  if (io::exists(directory / checkpoint::manifest_name)) return directory;
  if (!fs::is_directory(directory)) throw UsageError(fmt::format("'{}' is no directory of a checkpoint or a run", path));
  const auto newest = checkpoint::highest_number(directory);
  if (newest >= 0) return directory / checkpoint::directory_name(newest);
  if (io::exists(directory / "run.json")) throw UsageError(fmt::format("the run '{}' has no checkpoint yet", path));
  throw UsageError(
      fmt::format("'{}' is neither a checkpoint (manifest.json) nor a run directory (run.json, checkpoint_000000)", path));
}

}  // namespace trainrt::cli
