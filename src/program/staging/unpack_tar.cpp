#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "program/staging/archives.hpp"

namespace trainrt::program::stage {

namespace {

/// Options of libarchive: ignore set-user-ID bits and owners, refuse names that lead outside of the folder, and follow
/// no links.
constexpr int extraction = ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT |
                           ARCHIVE_EXTRACT_SECURE_NOABSOLUTEPATHS;

bool is_staged(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) return true;
  const auto type = archive_entry_filetype(entry);
  return type == AE_IFREG || type == AE_IFDIR || type == AE_IFLNK;
}

/// Limits the size to which a compressed tar may expand: 1 GiB, or 16 times the bytes that were read so far if this is
/// more.
class ExpansionGuard {
 public:
  explicit ExpansionGuard(const Fetch& fetch) : fetch_(fetch) {}
  std::span<const char> fetch() {
    const auto bytes = fetch_();
    read_ += static_cast<std::int64_t>(bytes.size());
    return bytes;
  }
  /// Throws an Error that names the entry `name` if `bytes`, the total size of the unpacked files, exceeds the limit.
  void require(std::int64_t bytes, const char* name) const {
    constexpr std::int64_t min_limit = std::int64_t{1} << 30, max_ratio = 16;
    if (const auto limit = std::max(min_limit, max_ratio * read_); bytes > limit)
      throw Error(
          fmt::format("at '{}' the tar has expanded to more than {} bytes; "
                      "the limit is 1 GiB, or 16 times the {} bytes read so far if that is more. "
                      "If you trust the tar, stage it uncompressed or as a folder",
                      name, limit, read_));
  }

 private:
  const Fetch& fetch_;
  std::int64_t read_ = 0;
};

/// Copies the content of the current file of the tar and returns the size of the file. `before`: total size of the
/// previous files.
std::int64_t copy_content(archive* from, archive* to, const char* name, const ExpansionGuard& limit, std::int64_t before) {
  std::int64_t bytes = 0;
  const void* part = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  for (;;) {
    const int got = archive_read_data_block(from, &part, &size, &offset);
    if (got == ARCHIVE_EOF) return bytes;
    if (got < ARCHIVE_WARN) throw Error(fmt::format("the tar is damaged in '{}': {}", name, why(from)));
    limit.require(before + bytes + static_cast<std::int64_t>(size), name);
    if (archive_write_data_block(to, part, size, offset) < ARCHIVE_OK)
      throw Error(fmt::format("cannot write '{}': {}", name, why(to)));
    bytes += static_cast<std::int64_t>(size);
  }
}

void unpack_entry(archive* from, archive* to, archive_entry* entry, const ExpansionGuard& limit, TreeSize& found) {
  const char* name = archive_entry_pathname(entry);
  if (name == nullptr) throw Error("the tar has a name that is invalid in this locale: " + why(from));
  if (!is_staged(entry)) {
    ++found.left_out;
    return;
  }
  const bool is_folder = archive_entry_filetype(entry) == AE_IFDIR;
  if (is_folder) archive_entry_set_perm(entry, archive_entry_perm(entry) | 0700);  // lets the user remove the folder
  if (archive_write_header(to, entry) < ARCHIVE_WARN) throw Error(fmt::format("cannot create '{}': {}", name, why(to)));
  if (archive_entry_size(entry) > 0) found.bytes += copy_content(from, to, name, limit, found.bytes);
  if (archive_write_finish_entry(to) < ARCHIVE_WARN) throw Error(fmt::format("cannot write '{}': {}", name, why(to)));
  if (!is_folder) ++found.files;
}

}  // namespace

TreeSize unpack_tar(const Fetch& fetch) {
  ExpansionGuard limit(fetch);
  const Fetch counted = [&] { return limit.fetch(); };
  const FetchedArchive from(counted);
  const Archived<archive> to(archive_write_disk_new());
  archive_write_disk_set_options(to.get(), extraction);
  TreeSize found;
  archive_entry* entry = nullptr;
  try {
    int got = ARCHIVE_OK;
    while ((got = archive_read_next_header(from.get(), &entry)) >= ARCHIVE_WARN && got != ARCHIVE_EOF)
      unpack_entry(from.get(), to.get(), entry, limit, found);
    if (got != ARCHIVE_EOF) throw Error("the tar is damaged: " + why(from.get()));
  } catch (const Error&) {
    from.rethrow();  // throws the error of the transfer if it was the cause
    throw;
  }
  if (archive_write_close(to.get()) < ARCHIVE_WARN) throw Error("cannot set times and modes of folders: " + why(to.get()));
  return found;
}

}  // namespace trainrt::program::stage
