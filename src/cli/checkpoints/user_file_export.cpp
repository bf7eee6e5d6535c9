#include "cli/checkpoints/user_file_export.hpp"

#include <filesystem>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "batch/signals.hpp"
#include "checkpoint/other_files.hpp"

namespace trainrt::cli {

namespace fs = std::filesystem;
using checkpoint::FileRecord;

const FileRecord* find_user_file(const std::string& path, const checkpoint::Manifest& manifest) {
  const fs::path target(path);
  std::vector<const FileRecord*> candidates;
  for (const auto& record : manifest.files) {
    const fs::path name(record.name);
    if (checkpoint::is_of_other_rank(record.name)) continue;
    if (target.extension().empty() || name.extension() != target.extension()) continue;
    if (name.filename() == target.filename()) return &record;
    candidates.push_back(&record);
  }
  if (candidates.size() > 1)
    throw UsageError(fmt::format(
        "the checkpoint has several files with the extension {}: use the name of one of them for the new file: {}",
        target.extension().string(), user_file_names(manifest)));
  return candidates.empty() ? nullptr : candidates.front();
}

std::string user_file_names(const checkpoint::Manifest& manifest) {
  std::string names;
  for (const auto& record : manifest.files)
    if (!checkpoint::is_of_other_rank(record.name))
      names += (names.empty() ? "" : ", ") + fs::path(record.name).lexically_relative("files").string();
  return names;
}

void export_user_file(const std::string& checkpoint_dir, const FileRecord& record, AtomicFile& file,
                      const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  const auto source = checkpoint_dir + "/" + record.name;
  std::uint64_t done = 0;
  const auto found = checkpoint::digest_file(source, [&](std::span<const std::byte> piece) {
    if (const int signal = batch::stop_signal(); signal != 0)
      throw Error(fmt::format("stopped by {}: nothing was exported", batch::signal_name(signal)));
    file.write(done, piece);
    done += piece.size();
    progress(done, record.bytes);
  });
  if (found.bytes != record.bytes || found.digest != record.digest)
    throw Error(fmt::format("'{}' is damaged: its size or digest differs from the manifest", source));
}

}  // namespace trainrt::cli
