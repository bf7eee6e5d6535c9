#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/storage_error.hpp"

namespace trainrt::io {

// POSIX files with every result checked. Errors name the operation, the path, the system's reason and what to do.
// None of this follows a shell's or a library's buffering: when a function that says "durable" returns, the bytes are on
// disk.

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  ~Descriptor();
  int get() const { return fd_; }
  int release();

 private:
  int fd_;
};

/// Reads a file from its beginning.
class FileReader {
 public:
  explicit FileReader(const std::string& path);
  /// Fills as much of `into` as the file has left; returns how much, 0 at the end.
  std::size_t read(std::span<std::byte> into);
  std::uint64_t size() const { return size_; }  ///< when it was opened

 private:
  std::string path_;
  Descriptor fd_;
  std::uint64_t size_ = 0;
};

/// Writes a new file from its beginning to its end. The file must not exist. It is durable after finish(), and whatever
/// lies there when the writer goes without it is no file to trust: the caller removes it.
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
  std::uint64_t started_ = 0;  // so much is on its way to the disk
};

std::string read_file(const std::string& path);

/// A new file with these bytes, durable (its name is, once sync_directory() was called on its directory).
void write_file(const std::string& path, std::string_view bytes);

/// Puts these bytes in the place of `path`, durable and atomic: readers and crashes see the old file or the new one.
void replace_file(const std::string& path, std::string_view bytes);

/// The same without waiting for the disk: readers see the old file or the new one, a node that crashes may lose both. For
/// what is written often and can be missed. It is written to `aside`, in the same file system, first.
void replace_file_lightly(const std::string& path, const std::string& aside, std::string_view bytes);

/// Makes the names in a directory durable.
void sync_directory(const std::string& path);

/// Makes a directory and its missing parents. Other processes may make or remove the same directories meanwhile.
void make_directories(const std::string& path);

/// Makes one directory, whose parent is there; false if something has that name already.
bool make_directory(const std::string& path);

/// Makes a directory and its missing parents below `base`, which is there and is never made.
void make_directories_below(const std::string& base, const std::string& path);

/// Renames if nothing has the new name yet; false if something has.
bool rename_to_new(const std::string& from, const std::string& to);

/// Removes what lies there, if anything does. Symbolic links are removed, never followed.
void remove_tree(const std::string& path);

/// Gives everything in a directory a name that begins with `prefix`. A symbolic link in the directory's place is not
/// followed: then nothing is done.
void rename_all_in(const std::string& directory, const std::string& prefix);

/// Anything by that name, a broken symbolic link too.
bool exists(const std::string& path);

/// A symbolic link by that name.
bool is_link(const std::string& path);

/// Names in a directory, sorted, without "." and "..".
std::vector<std::string> list_directory(const std::string& path);

/// The same; none if there is no such directory.
std::vector<std::string> list_if_there(const std::string& path);

/// Paths of all files below a directory, relative to it, sorted. Symbolic links are listed, never followed.
std::vector<std::string> list_files_below(const std::string& path);

}  // namespace trainrt::io
