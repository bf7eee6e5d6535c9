#include "cli/files/atomic_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/files/file.hpp"
#include "io/files/temporary.hpp"

namespace trainrt::cli {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void throw_exists(const std::string& path) {
  throw UsageError(fmt::format("'{}' exists already; --force replaces it", path));
}

}  // namespace

AtomicFile::AtomicFile(std::string path, bool replace) : path_(fs::absolute(path).lexically_normal()), replace_(replace) {
  const auto folder = fs::path(path_).parent_path();
  if (!fs::is_directory(folder))
    throw UsageError(fmt::format("'{}': the directory '{}' does not exist", path, folder.string()));
  if (fs::is_directory(path_)) throw UsageError(fmt::format("'{}' is a directory", path));
  if (!replace && io::exists(path_)) throw_exists(path);
  io::remove_abandoned(folder);
  temporary_path_ = io::temporary_beside(path_);
  io::remove_tree(temporary_path_);
}

AtomicFile::~AtomicFile() {
  if (!file_) return;
  file_.reset();
  std::remove(temporary_path_.c_str());
}

void AtomicFile::create() {
  guard_.emplace(std::vector{temporary_path_});
  file_.emplace(io::PositionalFile::create(temporary_path_));
}

void AtomicFile::reserve(std::uint64_t bytes) {
  create();  // the destructor now removes the file, even if an error follows
  if (bytes == 0) return;
  *file_ = io::PositionalFile::create(temporary_path_, bytes);
  // Sets the length of the file if the file system cannot reserve space.
  write(bytes - 1, std::string_view("\0", 1));
}

void AtomicFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (!file_) create();
  file_->write(offset, bytes);
  bytes_ = std::max(bytes_, offset + bytes.size());
}

void AtomicFile::commit() {
  if (!file_) reserve(0);
  file_->sync();
  file_->close();
  if (!replace_ && !io::rename_to_new(temporary_path_, path_)) throw_exists(path_);
  if (replace_ && std::rename(temporary_path_.c_str(), path_.c_str()) != 0)
    io::fail("rename '" + temporary_path_ + "' to", path_, errno);
  file_.reset();
  guard_.reset();
  io::sync_directory(fs::path(path_).parent_path());
}

}  // namespace trainrt::cli
