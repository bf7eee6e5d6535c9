#pragma once
#include <string>
#include <string_view>

#include "io/storage_error.hpp"

namespace trainrt::io {

/// Thrown if an older owner tries to change a FencedDirectory after a newer owner has fenced off the older one.
class FencedOff : public Error {
 public:
  using Error::Error;
};

/// A directory with one owner at a time, in which the previous owner may still be running when the next one takes over.
/// Example: a run directory, owned by the current attempt (one start of the run).
///
/// Each owner has a private directory inside, created once, before any other process knows its name. To write a file, an
/// owner writes it to the private directory and then moves it out by rename(2) or link(2). To remove something, an owner
/// moves it into the private directory. Therefore removing the private directory (fence_off()) makes every later change
/// by that owner fail, even if the owner checked just before that it is not fenced off.
///
/// No change by a fenced-off owner takes effect. The cases:
/// - A rename(2) that looks up the private directory after fence_off() has renamed it fails with ENOENT.
/// - A rename(2) that has looked up the private directory before, and is executed later, does not find its file, because
///   fence_off() renames all files in the private directory. Such a rename cannot move anything into the private
///   directory either, because fence_off() removes that directory.
/// - A rename(2) that is executed before fence_off() returns is visible to the new owner, which reads the directory
///   afterwards.
/// - A file descriptor that is still open refers to a file that has been replaced and has no name.
///
/// Requires POSIX semantics of the file system: rename is atomic, also for directories, and all clients see the result at
/// once. Local file systems, Lustre, GPFS, BeeGFS and NFS servers provide this. An NFS client may see a removed name for
/// some more seconds (attribute cache), but the server decides whether a rename succeeds. If NFS repeats a request
/// because its reply was lost, a rename that succeeded may return ENOENT, which this class reports as a failure.
class FencedDirectory {
 public:
  FencedDirectory(std::string path, std::string private_dir);

  const std::string& path() const { return path_; }
  const std::string& private_dir() const { return private_dir_; }
  /// Returns the path in the private directory to which this process writes the file `name` before publishing it. `name`
  /// is relative to the FencedDirectory and may contain slashes: "attempts/000003.json".
  std::string temporary_path(std::string_view name) const;

  // --- Functions that change the directory ---
  // Except for remove(), they throw FencedOff if a newer owner has removed the private directory, and StorageError for
  // other failures. The StorageError is transient if the FencedDirectory itself does not exist, for example because it is
  // no longer mounted.

  /// Creates or replaces the file `name`, atomically and durably.
  void replace(std::string_view name, std::string_view bytes) const;
  /// Writes `bytes` to the file temporary_path(name), durably. Removes that file if it throws.
  void write_temporary(std::string_view name, std::string_view bytes) const;
  /// Moves the file temporary_path(name) to its final name in the FencedDirectory, durably.
  void publish(std::string_view name) const;
  /// Creates the file `name` with the content `bytes`, complete and durable. Returns false if something with that name
  /// exists.
  bool create(std::string_view name, std::string_view bytes) const;
  /// Removes the file or directory `name`. Does nothing if it does not exist, or if a newer owner has fenced off this
  /// one.
  void remove(std::string_view name) const;

  /// Returns whether a newer owner has fenced off this one: the private directory is gone while the FencedDirectory
  /// itself exists. Use it for messages and for deciding to exit, not for deciding whether a change may be made. Returns
  /// false if the storage is unavailable or returns other errors.
  bool is_fenced() const;

 private:
  std::string path_of(std::string_view name) const;
  [[noreturn]] void rethrow(std::string_view name, const StorageError& error) const;

  std::string path_;
  std::string private_dir_;
};

/// Fences off an older owner of a FencedDirectory by removing its private directory `private_dir`: after the return, that
/// owner can no longer change the FencedDirectory. Renames `private_dir` to `fenced`, a path in the same directory,
/// renames its entries, then removes everything.
///
/// Returns "" or, if something could not be removed, a warning to print. If `private_dir` is a symbolic link, the link is
/// removed and not followed. Does nothing if `private_dir` does not exist. Throws StorageError if `private_dir` cannot be
/// renamed: then the older owner is not fenced off.
std::string fence_off(const std::string& private_dir, const std::string& fenced);

}  // namespace trainrt::io
