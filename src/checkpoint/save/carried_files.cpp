#include "checkpoint/save/carried_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include <trainrt/error.hpp>

#include "checkpoint/other_files.hpp"
#include "core/files/guarded_tree.hpp"
#include "io/files/file.hpp"

namespace trainrt::checkpoint {

namespace {

/// The file system has no such links, or not here.
bool cannot_link(int error_number) {
  return error_number == EXDEV || error_number == EPERM || error_number == EMLINK || error_number == EOPNOTSUPP ||
         error_number == ENOSYS;
}

void copy(const std::string& from, const FileRecord& record, const std::string& to) {
  io::FileWriter writer(to);
  const auto found = read_through(from, [&](std::span<const std::byte> piece) { writer.write(piece); });
  if (found.bytes != record.bytes || found.digest != record.digest)
    throw Error("'" + from + "' is damaged, and the next checkpoint needs it: it does not have its digest");
  writer.finish();
}

}  // namespace

std::vector<FileRecord> carried_files(const std::string& checkpoint_dir, const State& state) {
  auto files = read_manifest(checkpoint_dir).files;
  std::erase_if(files, [&](const FileRecord& file) {
    const auto is_it = [&](const FileEntry& entry) { return file_name(entry, 0) == file.name; };
    return file.rank >= 0 || std::ranges::any_of(state.files(), is_it);
  });
  return files;
}

void carry_file(const std::string& from, const FileRecord& record, const std::string& to) {
  if (link_guarded(from, to) == 0) return;
  if (!cannot_link(errno)) io::fail("link to '" + to + "'", from, errno);
  copy(from, record, to);
}

}  // namespace trainrt::checkpoint
