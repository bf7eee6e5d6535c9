#include <trainrt/error.hpp>

#include "program/staging/archives.hpp"

namespace trainrt::program::stage::plugins {

namespace {

bool is_tar(const std::string& path) {
  const Archived<archive> a(archive_read_new());
  archive_read_support_filter_all(a.get());
  archive_read_support_format_tar(a.get());
  archive_entry* entry = nullptr;
  return archive_read_open_filename(a.get(), path.c_str(), 1 << 16) == ARCHIVE_OK &&
         archive_read_next_header(a.get(), &entry) >= ARCHIVE_WARN && archive_format(a.get()) != ARCHIVE_FORMAT_EMPTY;
}

}  // namespace

extern const StageFormat tar;
const StageFormat tar{.name = "tar",
                      .help = "a tar, optionally compressed with gzip, xz, zstd, bzip2 or another method of libarchive",
                      .fits = is_tar,
                      .read = emit_file,
                      .identity = identity_of_file,
                      .unpack = unpack_tar,
                      .missing = [] { return std::string(); }};

}  // namespace trainrt::program::stage::plugins
