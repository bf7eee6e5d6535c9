#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/descriptor.hpp"
#include "io/storage_error.hpp"

namespace trainrt::io {

// Functions on POSIX files that check every result. They throw StorageError (Error for a path that is not a regular
// file), which names the operation, the path, the system's reason and the remedy. "Durable" means that the data is on
// disk when the function returns. Below a GuardedTree (core/files/guarded_tree.hpp), the functions do not follow symbolic
// links.

/// Reads a regular file sequentially, from its beginning.
class FileReader {
 public:
  explicit FileReader(const std::string& path);
  /// Reads the next bytes of the file into `into`. Returns the number of bytes read, which is less than into.size() only
  /// at the end of the file.
  std::size_t read(std::span<std::byte> into);
  std::uint64_t size() const { return size_; }  ///< size of the file in bytes when it was opened
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Descriptor fd_;
  std::uint64_t size_ = 0;
};

/// Creates a file, which must not exist, and writes it sequentially. The file is complete and durable only after
/// finish(). If the writer is destroyed before, the caller must remove the incomplete file.
class FileWriter {
 public:
  explicit FileWriter(const std::string& path);
  void write(std::span<const std::byte> bytes);
  void finish();  ///< makes the file durable (fsync) and closes it
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  Descriptor fd_;
  std::uint64_t bytes_ = 0;
  std::uint64_t started_ = 0;  // number of bytes that sync_file_range(2) has been asked to write to disk
};

/// Returns the content of the file `path`.
std::string read_file(const std::string& path);

/// Creates the file `path`, which must not exist, with the content `bytes`. The content is durable; the name is durable
/// after sync_directory() on the parent directory.
void write_file(const std::string& path, std::string_view bytes);

/// Creates the file `path`, or replaces it atomically: readers see the old or the new content, also after a crash at
/// any time. The content and the name are durable when the function returns.
void replace_file(const std::string& path, std::string_view bytes);

/// Replaces the file `path` atomically without fsync: readers see the old or the new content, but a crash of the node may
/// lose both. For data that is written often and may be lost. Writes to the file `temporary` first, which must be in the
/// same file system.
void replace_file_unsynced(const std::string& path, const std::string& temporary, std::string_view bytes);

/// Renames `from` to `to` by rename(2). Replaces an existing file or empty directory `to`.
void rename_over(const std::string& from, const std::string& to);

/// Renames the file or directory `from` to `to`, without replacing anything: returns false if `to` exists.
bool rename_to_new(const std::string& from, const std::string& to);

/// Swaps the names of two existing files or directories in the same file system. Atomic if the file system supports it
/// (renameat2(2)); otherwise the name `b` does not exist for a moment. Durable only after sync_directory().
void exchange(const std::string& a, const std::string& b);

/// Makes the names in the directory `path` durable (fsync): entries that were created, renamed or removed.
void sync_directory(const std::string& path);

/// Creates the directory `path` and its missing parents. Other processes may create or remove the same directories
/// meanwhile.
void make_directories(const std::string& path);

/// Creates the directory `path` in an existing parent directory. Returns false if something with that name exists.
bool make_directory(const std::string& path);

/// Creates the directory `path` and its missing parents below `base`. `base` itself must exist and is never created.
void make_directories_below(const std::string& base, const std::string& path);

/// Removes the file `path`, or the directory `path` with its content. Does nothing if `path` does not exist. Removes
/// symbolic links, not their targets.
void remove_tree(const std::string& path);

/// Prepends `prefix` to the names of all entries of a directory. Does nothing if `directory` is a symbolic link.
void rename_all_in(const std::string& directory, const std::string& prefix);

/// Returns whether `path` exists. A broken symbolic link counts as existing.
bool exists(const std::string& path);

bool is_link(const std::string& path);

/// Returns the names of the entries of a directory, sorted, without "." and "..".
std::vector<std::string> list_directory(const std::string& path);

/// Returns the names of the entries of a directory like list_directory(), or an empty list if the directory does not
/// exist.
std::vector<std::string> list_if_exists(const std::string& path);

/// Returns the paths of all files below the directory `path`, in sub-directories, too. The paths are relative to `path`
/// and sorted. Symbolic links are listed, but not followed.
std::vector<std::string> list_files_below(const std::string& path);

}  // namespace trainrt::io
