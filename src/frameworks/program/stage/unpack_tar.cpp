#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "frameworks/program/stage/archives.hpp"

namespace trainrt::program::stage {

namespace {

/// Without set-user-ID bits and owners; names that lead outside are refused, and links are not followed.
constexpr int extraction = ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT |
                           ARCHIVE_EXTRACT_SECURE_NOABSOLUTEPATHS;

bool is_staged(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) return true;
  const auto type = archive_entry_filetype(entry);
  return type == AE_IFREG || type == AE_IFDIR || type == AE_IFLNK;
}

/// The bytes of a file: how many.
std::int64_t copy_content(archive* from, archive* to, const char* name) {
  std::int64_t bytes = 0;
  const void* part = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  for (;;) {
    const int got = archive_read_data_block(from, &part, &size, &offset);
    if (got == ARCHIVE_EOF) return bytes;
    if (got < ARCHIVE_WARN) throw Error(fmt::format("the tar is damaged in '{}': {}", name, why(from)));
    if (archive_write_data_block(to, part, size, offset) < ARCHIVE_OK)
      throw Error(fmt::format("'{}' cannot be written: {}", name, why(to)));
    bytes += static_cast<std::int64_t>(size);
  }
}

void unpack_entry(archive* from, archive* to, archive_entry* entry, TreeSize& found) {
  const char* name = archive_entry_pathname(entry);
  if (name == nullptr) throw Error("the tar has a name that is not of this character set: " + why(from));
  if (!is_staged(entry)) {
    ++found.left_out;
    return;
  }
  const bool is_folder = archive_entry_filetype(entry) == AE_IFDIR;
  if (is_folder) archive_entry_set_perm(entry, archive_entry_perm(entry) | 0700);  // so that it can be removed again
  if (archive_write_header(to, entry) < ARCHIVE_WARN) throw Error(fmt::format("'{}' cannot be made: {}", name, why(to)));
  if (archive_entry_size(entry) > 0) found.bytes += copy_content(from, to, name);
  if (archive_write_finish_entry(to) < ARCHIVE_WARN) throw Error(fmt::format("'{}' cannot be written: {}", name, why(to)));
  if (!is_folder) ++found.files;
}

}  // namespace

TreeSize unpack_tar(const Fetch& fetch) {
  const FetchedArchive from(fetch);
  const Archived<archive> to(archive_write_disk_new());
  archive_write_disk_set_options(to.get(), extraction);
  TreeSize found;
  archive_entry* entry = nullptr;
  try {
    int got = ARCHIVE_OK;
    while ((got = archive_read_next_header(from.get(), &entry)) >= ARCHIVE_WARN && got != ARCHIVE_EOF)
      unpack_entry(from.get(), to.get(), entry, found);
    if (got != ARCHIVE_EOF) throw Error("the tar is damaged: " + why(from.get()));
  } catch (const Error&) {
    from.rethrow();  // the cause, if the bytes did not come
    throw;
  }
  if (archive_write_close(to.get()) < ARCHIVE_WARN) throw Error("the times and modes of folders: " + why(to.get()));
  return found;
}

}  // namespace trainrt::program::stage
