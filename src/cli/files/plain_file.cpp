#include "cli/files/plain_file.hpp"

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

const FileRecord* plain_file_for(const std::string& path, const checkpoint::Manifest& manifest) {
  const fs::path wanted(path);
  std::vector<const FileRecord*> alike;
  for (const auto& record : manifest.files) {
    const fs::path name(record.name);
    if (wanted.extension().empty() || name.extension() != wanted.extension()) continue;
    if (name.filename() == wanted.filename()) return &record;
    alike.push_back(&record);
  }
  if (alike.size() > 1)
    throw UsageError(
        fmt::format("the checkpoint has several files that end with {}: call the new one as the one that is "
                    "meant; it has {}",
                    wanted.extension().string(), plain_files_of(manifest)));
  return alike.empty() ? nullptr : alike.front();
}

std::string plain_files_of(const checkpoint::Manifest& manifest) {
  std::string names;
  for (const auto& record : manifest.files)
    names += (names.empty() ? "" : ", ") + fs::path(record.name).lexically_relative("files").string();
  return names;
}

void export_plain_file(const std::string& checkpoint_dir, const FileRecord& record, NewFile& file,
                       const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  const auto from = checkpoint_dir + "/" + record.name;
  std::uint64_t done = 0;
  const auto found = checkpoint::digest_file(from, [&](std::span<const std::byte> piece) {
    if (const int signal = batch::stop_signal(); signal != 0)
      throw Error(fmt::format("ended by {}: nothing was exported", batch::signal_name(signal)));
    file.write(done, piece);
    done += piece.size();
    progress(done, record.bytes);
  });
  if (found.bytes != record.bytes || found.digest != record.digest)
    throw Error(fmt::format("'{}' is damaged: it does not have the digest that the manifest names", from));
}

}  // namespace trainrt::cli
