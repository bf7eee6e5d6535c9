#pragma once
#include <string>
#include <string_view>

#include "io/storage_error.hpp"

namespace trainrt::io {

/// Reports that a newer owner has fenced off this owner of a FencedDirectory, which must not change it any more.
class FencedOff : public Error {
 public:
  using Error::Error;
};

/// A directory with one owner at a time, in which the previous owner may still be running when the next one begins: a run
/// directory, which is owned by an attempt. Each owner has a private directory in it, created once, before any other
/// process knows its name. An owner writes each file in its private directory first and moves it out by rename(2) or
/// link(2); to remove something, it moves it in. Therefore removing the private directory (fence_off()) makes every later
/// change by that owner fail, whatever that owner has checked before.
///
/// No change gets through: a rename by the old owner that looks up the private directory after fence_off() has renamed it
/// fails with ENOENT. A rename that has looked it up before, and is executed later, does not find its file, because
/// fence_off() renames all files in there, and cannot move anything into it, because fence_off() removes it. A rename that
/// is executed before fence_off() returns is visible to the new owner, which reads the directory afterwards. A descriptor
/// that is still open refers to a file that has been replaced and has no name.
///
/// Requires POSIX semantics of the file system: rename is atomic, also for directories, and all clients see it at once.
/// This holds for local file systems, Lustre, GPFS, BeeGFS and NFS servers. An NFS client may take a removed name for
/// existing for some seconds (attribute cache), but the server decides whether its rename succeeds. If NFS repeats a
/// request after a lost answer, a rename that succeeded may return ENOENT, which this class reports as a failure.
class FencedDirectory {
 public:
  FencedDirectory(std::string path, std::string private_dir);

  const std::string& path() const { return path_; }
  const std::string& private_dir() const { return private_dir_; }
  /// Returns the path, in the private directory, at which this process writes `name` before publishing it. `name` is
  /// relative to the directory and may contain slashes: "attempts/000003.json".
  std::string temporary_path(std::string_view name) const;

  // Except for remove(), the functions below throw FencedOff if a newer owner has removed the private directory, and
  // StorageError otherwise. The StorageError is transient if the directory itself does not exist, for example because it is
  // not mounted any more.

  /// Creates or replaces the file `name`, atomically and durably.
  void replace(std::string_view name, std::string_view bytes) const;
  /// Writes the file temporary_path(name), durably. If it throws, that file does not exist.
  void write_temporary(std::string_view name, std::string_view bytes) const;
  /// Moves temporary_path(name) to its name in the directory, durably.
  void publish(std::string_view name) const;
  /// Creates the file `name`, complete and durable; returns false if something with that name exists.
  bool create(std::string_view name, std::string_view bytes) const;
  /// Removes a file or directory. Does nothing if it does not exist, or if this owner has been fenced off.
  void remove(std::string_view name) const;

  /// Returns whether the private directory is gone while the directory exists, which means that there is a newer owner. Use
  /// it for messages and for deciding to exit, not for deciding whether a change may be made. Returns false if the storage
  /// gives other errors or is unavailable.
  bool is_fenced() const;

 private:
  std::string path_of(std::string_view name) const;
  [[noreturn]] void rethrow(std::string_view name, const StorageError& error) const;

  std::string path_;
  std::string private_dir_;
};

/// Removes the private directory of an older owner: when it returns, that owner can change the FencedDirectory no more.
/// Renames `private_dir` to `fenced`, a path in the same directory, renames its entries, then removes everything. Returns
/// "" or, if something could not be removed, a warning to print. If `private_dir` is a symbolic link, the link is removed
/// and not followed. Does nothing if `private_dir` does not exist. Throws StorageError if it cannot be renamed: then the
/// older owner is not fenced off.
std::string fence_off(const std::string& private_dir, const std::string& fenced);

}  // namespace trainrt::io
