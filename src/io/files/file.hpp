#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/descriptor.hpp"
#include "io/storage_error.hpp"

namespace trainrt::io {

// Functions on POSIX files that check every result. They throw StorageError (Error for a path that is not a regular file),
// which names the operation, the path, the system's reason and what to do. They do no buffering of their own: "durable"
// means that the data is on disk when the function returns. Below a guarded tree (core/files/guarded_tree.hpp) they follow
// no symbolic link.

/// Reads a file from its beginning.
class FileReader {
 public:
  explicit FileReader(const std::string& path);
  /// Fills `into` as far as the file has bytes left; returns the number of bytes read, 0 at the end of the file.
  std::size_t read(std::span<std::byte> into);
  std::uint64_t size() const { return size_; }  ///< bytes, at the time of opening
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Descriptor fd_;
  std::uint64_t size_ = 0;
};

/// Writes a new file from its beginning. The file must not exist. The file is complete and durable only after finish(); if
/// the writer is destroyed before, the caller removes the file.
class FileWriter {
 public:
  explicit FileWriter(const std::string& path);
  void write(std::span<const std::byte> bytes);
  void finish();  ///< fsync and close
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  Descriptor fd_;
  std::uint64_t bytes_ = 0;
  std::uint64_t started_ = 0;  // the system has been asked to start writing these bytes to disk
};

std::string read_file(const std::string& path);

/// Creates a file with these bytes. The content is durable; the name is durable after sync_directory() on its directory.
void write_file(const std::string& path, std::string_view bytes);

/// Creates the file `path`, or replaces it atomically: readers, and a crash at any time, see the old or the new content.
/// Durable.
void replace_file(const std::string& path, std::string_view bytes);

/// Replaces a file atomically without fsync: readers see the old or the new content, but a crash of the node may lose both.
/// For data that is written often and can be lost. Writes to `temporary` first, which must be in the same file system.
void replace_file_unsynced(const std::string& path, const std::string& temporary, std::string_view bytes);

/// rename(2): replaces a file, or an empty directory, of the name `to`.
void rename_over(const std::string& from, const std::string& to);

/// Renames a file or directory; returns false if something with the name `to` exists.
bool rename_to_new(const std::string& from, const std::string& to);

/// Exchanges the names of two files or directories of one file system, which must both exist. Atomic if the file system
/// supports it (renameat2(2)); otherwise `b` does not exist for a moment. Not durable: see sync_directory().
void exchange(const std::string& a, const std::string& b);

/// Makes the names in a directory durable.
void sync_directory(const std::string& path);

/// Creates a directory and its missing parents. Other processes may create or remove the same directories meanwhile.
void make_directories(const std::string& path);

/// Creates one directory in an existing parent; returns false if something with that name exists.
bool make_directory(const std::string& path);

/// Creates a directory and its missing parents below `base`. `base` must exist and is never created.
void make_directories_below(const std::string& base, const std::string& path);

/// Removes a file, or a directory with its content. Does nothing if `path` does not exist. Removes symbolic links, not
/// their targets.
void remove_tree(const std::string& path);

/// Adds `prefix` to the names of all entries of a directory. Does nothing if `directory` is a symbolic link.
void rename_all_in(const std::string& directory, const std::string& prefix);

/// Returns whether anything has that name, including a broken symbolic link.
bool exists(const std::string& path);

bool is_link(const std::string& path);

/// Returns the names in a directory, sorted, without "." and "..".
std::vector<std::string> list_directory(const std::string& path);

/// Returns the names in a directory like list_directory(), or an empty list if it does not exist.
std::vector<std::string> list_if_exists(const std::string& path);

/// Returns the paths of all files below a directory, relative to it and sorted. Lists symbolic links, and does not follow
/// them.
std::vector<std::string> list_files_below(const std::string& path);

}  // namespace trainrt::io
