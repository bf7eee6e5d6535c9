#include "trainer/saving/mirrored_checkpoint.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "checkpoint/load/verify.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "metrics/result_log.hpp"

namespace trainrt::trainer {

namespace {

/// Returns the reason why the checkpoint in `path`, a copy from the mirror, cannot be used. If the checkpoint can be used,
/// sets `fetched.meta` and returns "".
std::string flaw_of(const std::string& path, const std::string& name, const std::string& reports_in,
                    FetchedCheckpoint& fetched) {
  if (const auto damages = checkpoint::verify(path); !damages.empty()) return "is damaged: " + damages.front();
  const auto meta = checkpoint::read_manifest(path).meta;
  if (!metrics::holds_records(reports_in, meta.iteration)) {
    if (fetched.without_reports.empty()) fetched.without_reports = name;
    return fmt::format("cannot be used: {} does not hold the reports of iterations 1 to {}", metrics::result_log_name,
                       meta.iteration);
  }
  fetched.meta = meta;
  return "";
}

}  // namespace

FetchedCheckpoint fetch_newest(const checkpoint::MirroredRun& mirror, const std::string& directory,
                               const std::string& reports_in, std::optional<std::int64_t> preferred) {
  FetchedCheckpoint fetched;
  auto numbers = mirror.numbers().complete;
  std::ranges::reverse(numbers);
  if (preferred) std::ranges::stable_partition(numbers, [&](std::int64_t each) { return each == *preferred; });
  for (const auto number : numbers) {
    const auto name = checkpoint::directory_name(number);
    const auto path = directory + "/" + name;
    std::string flaw;
    try {
      mirror.bring(number, directory);
      flaw = flaw_of(path, name, reports_in, fetched);
      if (flaw.empty()) return fetched;
    } catch (const io::StorageError&) {
      throw;
    } catch (const Error& error) {
      flaw = std::string("cannot be used: ") + error.what();
    }
    log::warning(fmt::format("{}{} {}", mirror.url(), name, flaw));
    io::remove_tree(path);
  }
  return fetched;
}

}  // namespace trainrt::trainer
