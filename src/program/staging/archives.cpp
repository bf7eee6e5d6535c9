#include "program/staging/archives.hpp"

#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/descriptor.hpp"

namespace trainrt::program::stage {

std::string why(archive* a) {
  const char* text = archive_error_string(a);
  const int number = archive_errno(a);  // a negative number is no errno; EILSEQ is an error in the format
  std::string system = number > 0 ? std::strerror(number) : "";
  if (text == nullptr) return system;
  return system.empty() || number == EILSEQ ? text : fmt::format("{} ({})", text, system);
}

FetchedArchive::FetchedArchive(const Fetch& fetch) : fetch_(fetch), archive_(archive_read_new()) {
  archive_read_support_filter_all(get());
  archive_read_support_format_tar(get());
  if (archive_read_open(get(), this, nullptr, next, nullptr) == ARCHIVE_OK) return;
  rethrow();
  throw Error("libarchive cannot read the source as a tar: " + why(get()));
}

la_ssize_t FetchedArchive::next(archive* a, void* self, const void** bytes) {
  auto* mine = static_cast<FetchedArchive*>(self);
  try {
    const auto fetched = mine->fetch_();
    *bytes = fetched.data();
    return static_cast<la_ssize_t>(fetched.size());
  } catch (...) {  // an exception must not pass through C code
    mine->thrown_ = std::current_exception();
    archive_set_error(a, EIO, "the source failed");
    return ARCHIVE_FATAL;
  }
}

EmittedArchive::EmittedArchive(const Emit& emit) : emit_(emit), archive_(archive_write_new()) {
  archive_write_set_format_gnutar(get());  // GNU tar supports names of any length and encoding
  archive_write_set_bytes_per_block(get(), 1 << 16);
  archive_write_set_bytes_in_last_block(get(), 1);
  if (archive_write_open(get(), this, nullptr, put, nullptr) != ARCHIVE_OK) throw Error(why(get()));
}

la_ssize_t EmittedArchive::put(archive* a, void* self, const void* bytes, std::size_t count) {
  auto* mine = static_cast<EmittedArchive*>(self);
  try {
    if (!mine->thrown_) mine->emit_({static_cast<const char*>(bytes), count});
    return static_cast<la_ssize_t>(count);
  } catch (...) {  // an exception must not pass through C code
    mine->thrown_ = std::current_exception();
    archive_set_error(a, EIO, "the transfer was cancelled");
    return ARCHIVE_FATAL;
  }
}

void EmittedArchive::close() {
  const bool good = archive_write_close(get()) == ARCHIVE_OK;
  rethrow();
  if (!good) throw Error(why(get()));
}

std::string identity_of_file(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) throw Error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  return fmt::format("{} bytes, inode {}, {}.{:09d}", found.st_size, found.st_ino, found.st_mtim.tv_sec,
                     found.st_mtim.tv_nsec);
}

std::string emit_file(const std::string& path, const Emit& emit) {
  auto identity = identity_of_file(path);
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<char> buffer(1 << 20);
  for (;;) {
    const auto count = file ? read(file.get(), buffer.data(), buffer.size()) : -1;
    if (count < 0 && file && errno == EINTR) continue;
    if (count < 0) throw Error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    if (count == 0) return identity;
    emit({buffer.data(), static_cast<std::size_t>(count)});
  }
}

}  // namespace trainrt::program::stage
