#include "cli/files/new_file.hpp"

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

[[noreturn]] void refuse(const std::string& path) {
  throw UsageError(fmt::format("'{}' exists already; --force replaces it", path));
}

}  // namespace

NewFile::NewFile(std::string path, bool replace) : path_(fs::absolute(path).lexically_normal()), replace_(replace) {
  const auto folder = fs::path(path_).parent_path();
  if (!fs::is_directory(folder)) throw UsageError(fmt::format("'{}': there is no directory '{}'", path, folder.string()));
  if (fs::is_directory(path_)) throw UsageError(fmt::format("'{}' is a directory", path));
  if (!replace && io::exists(path_)) refuse(path);
  io::remove_abandoned(folder);
  aside_ = io::temporary_beside(path_);
  io::remove_tree(aside_);
}

NewFile::~NewFile() {
  if (!file_) return;
  file_.reset();
  std::remove(aside_.c_str());
}

void NewFile::create() {
  guard_.emplace(std::vector{aside_});
  file_.emplace(io::PositionalFile::create(aside_));
}

void NewFile::reserve(std::uint64_t bytes) {
  create();  // from here on the destructor removes it, whatever follows
  if (bytes == 0) return;
  *file_ = io::PositionalFile::create(aside_, bytes);
  // If the file system cannot reserve, the file gets its length by this.
  write(bytes - 1, std::string_view("\0", 1));
}

void NewFile::write(std::uint64_t at, std::span<const std::byte> bytes) {
  if (!file_) create();
  file_->write(at, bytes);
  bytes_ = std::max(bytes_, at + bytes.size());
}

void NewFile::commit() {
  if (!file_) reserve(0);
  file_->sync();
  file_->close();
  if (!replace_ && !io::rename_to_new(aside_, path_)) refuse(path_);
  if (replace_ && std::rename(aside_.c_str(), path_.c_str()) != 0) io::fail("rename '" + aside_ + "' to", path_, errno);
  file_.reset();
  guard_.reset();
  io::sync_directory(fs::path(path_).parent_path());
}

}  // namespace trainrt::cli
