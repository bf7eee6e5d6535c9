#include <filesystem>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "program/staging/archives.hpp"
#include "program/staging/link_target.hpp"

namespace trainrt::program::stage::plugins {

namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code none;
  return fs::is_directory(path, none);
}

[[noreturn]] void cannot_read(archive* disk, const std::string& path) {
  throw Error(fmt::format("cannot read {}: {}", path, why(disk)));
}

void check_written(const EmittedArchive& tar, la_ssize_t result, const char* name) {
  if (result >= ARCHIVE_WARN) return;
  tar.rethrow();
  throw Error(fmt::format("cannot add '{}' to the tar: {}", name, why(tar.get())));
}

void emit_content(archive* disk, const EmittedArchive& tar, archive_entry* entry) {
  const void* part = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  for (;;) {
    const int got = archive_read_data_block(disk, &part, &size, &offset);
    if (got == ARCHIVE_EOF) return;
    if (got < ARCHIVE_WARN) cannot_read(disk, archive_entry_sourcepath(entry));
    check_written(tar, archive_write_data(tar.get(), part, size), archive_entry_pathname(entry));
  }
}

/// Makes the path of an entry relative to `root`, and adapts the target of a symbolic link with link_target().
void make_relative(archive_entry* entry, const std::string& root) {
  const std::string name = archive_entry_pathname(entry);
  const auto inner = name.substr(root.size() + (root.ends_with('/') ? 0 : 1));
  archive_entry_copy_pathname(entry, inner.c_str());
  if (const char* target = archive_entry_symlink(entry); target != nullptr)
    archive_entry_copy_symlink(entry, link_target(root, inner, target).c_str());
}

/// Calls `visit` with each entry of the folder `root`. The path of the entry is relative to `root`.
void walk(const std::string& root, archive* disk, const std::function<void(archive_entry*)>& visit) {
  archive_read_disk_set_symlink_physical(disk);
  archive_read_disk_set_behavior(
      disk, ARCHIVE_READDISK_NO_XATTR | ARCHIVE_READDISK_NO_ACL | ARCHIVE_READDISK_NO_FFLAGS | ARCHIVE_READDISK_NO_SPARSE);
  if (archive_read_disk_open(disk, root.c_str()) != ARCHIVE_OK) cannot_read(disk, root);
  for (;;) {
    const Archived<archive_entry> entry(archive_entry_new());
    const int got = archive_read_next_header2(disk, entry.get());
    if (got == ARCHIVE_EOF) return;
    if (got < ARCHIVE_WARN) cannot_read(disk, root);
    archive_read_disk_descend(disk);
    if (archive_entry_pathname(entry.get()) == root || archive_entry_filetype(entry.get()) == AE_IFSOCK) continue;
    make_relative(entry.get(), root);
    visit(entry.get());
  }
}

/// Computes the identity of a folder: a hash of all its entries that does not depend on their order.
class FolderIdentity {
 public:
  void add(archive_entry* entry) {
    const char* target = archive_entry_symlink(entry);
    sum_ += stable_hash(fmt::format("{} {} {:o} {} {}.{}", archive_entry_pathname(entry), target != nullptr ? target : "",
                                    archive_entry_mode(entry), archive_entry_size(entry), archive_entry_mtime(entry),
                                    archive_entry_mtime_nsec(entry)));
  }
  std::string text() const { return fmt::format("{:016x}", sum_); }

 private:
  std::uint64_t sum_ = 0;
};

std::string identity_of_folder(const std::string& path) {
  FolderIdentity identity;
  const Archived<archive> disk(archive_read_disk_new());
  walk(fs::canonical(path).string(), disk.get(), [&](archive_entry* entry) { identity.add(entry); });
  return identity.text();
}

std::string read_folder(const std::string& path, const Emit& emit) {
  FolderIdentity identity;
  EmittedArchive tar(emit);
  const Archived<archive_entry_linkresolver> hard_links(archive_entry_linkresolver_new());
  archive_entry_linkresolver_set_strategy(hard_links.get(), ARCHIVE_FORMAT_TAR_GNUTAR);
  const Archived<archive> disk(archive_read_disk_new());
  walk(fs::canonical(path).string(), disk.get(), [&](archive_entry* entry) {
    identity.add(entry);
    archive_entry* deferred = nullptr;  // the tar format does not use this entry
    archive_entry_linkify(hard_links.get(), &entry, &deferred);
    check_written(tar, archive_write_header(tar.get(), entry), archive_entry_pathname(entry));
    if (archive_entry_size(entry) > 0) emit_content(disk.get(), tar, entry);
  });
  tar.close();
  return identity.text();
}

}  // namespace

extern const StageFormat directory;
const StageFormat directory{.name = "directory",
                            .help = "a folder with its content",
                            .fits = is_folder,
                            .read = read_folder,
                            .identity = identity_of_folder,
                            .unpack = unpack_tar,
                            .missing = [] { return std::string(); }};

}  // namespace trainrt::program::stage::plugins
