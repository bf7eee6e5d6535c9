#include "checkpoint/save/directory_copy.hpp"

#include <algorithm>
#include <cerrno>

#include <trainrt/error.hpp>

#include "checkpoint/other_files.hpp"
#include "core/files/guarded_tree.hpp"

namespace trainrt::checkpoint {

namespace {

io::FileReader open_directory_file(const std::string& path) try {
  return io::FileReader(path);
} catch (const Error& error) {
  throw DirectoryFileUnreadable(error.what());
}

std::size_t read_some(io::FileReader& reader, std::span<std::byte> into) try {
  return reader.read(into);
} catch (const Error& error) {
  throw DirectoryFileUnreadable(error.what());
}

[[noreturn]] void fail_changed(const DirectoryFile& file) {
  throw DirectoryFileUnreadable("'" + file.path +
                                "' changed its size while it was copied into a checkpoint. Files must be " +
                                "complete before report() and must not change until it returns");
}

/// Returns whether errno `error_number` of link(2) means that the file system does not support this hard link.
bool cannot_link(int error_number) {
  return error_number == EXDEV || error_number == EPERM || error_number == EMLINK || error_number == EOPNOTSUPP ||
         error_number == ENOSYS;
}

void copy_verified(const std::string& from, const FileRecord& record, const std::string& to) {
  io::FileWriter writer(to);
  const auto found = digest_file(from, [&](std::span<const std::byte> piece) { writer.write(piece); });
  if (found.bytes != record.bytes || found.digest != record.digest)
    throw Error("'" + from + "' is damaged: it does not match its digest. The next checkpoint must contain this file");
  writer.finish();
}

}  // namespace

DirectoryFileReader::DirectoryFileReader(const DirectoryFile& file)
    : file_(file), reader_(open_directory_file(file.path)) {}

void DirectoryFileReader::read(std::span<std::byte> into) {
  if (read_some(reader_, into) != into.size()) fail_changed(file_);
}

void DirectoryFileReader::end() {
  std::byte more{};
  if (read_some(reader_, {&more, 1}) != 0) fail_changed(file_);
}

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
  copy_verified(from, record, to);
}

}  // namespace trainrt::checkpoint
