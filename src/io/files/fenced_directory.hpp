#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "io/storage_error.hpp"

namespace trainrt::io {

/// What this owner of a directory wanted to do there is not its to do any more.
class FencedOff : public Error {
 public:
  using Error::Error;
};

/// A directory whose owners follow one another, if an older one may still be at work when the next has begun: a run
/// directory, and its attempts. Each owner has a private directory inside it, made once, before anybody can know of it,
/// and never again. Whatever an owner puts into the directory it writes in its private directory first and moves out by
/// rename(2) or link(2); whatever it takes away it moves in. So taking the private directory away (fence_off()) makes
/// every later change of that owner fail, whatever it has looked at or decided before.
///
/// Why nothing slips through. A rename of the old owner that looks up its private directory after fence_off() has renamed
/// it finds no such name (ENOENT). One that had looked it up before, and is only now carried out, finds no such file in
/// it, since fence_off() gives all in there other names; and nothing new can be moved into it, since it is removed. One
/// that was carried out before fence_off() came back is seen by the new owner, which looks afterwards. An open descriptor
/// leads to what was renamed over: a file without a name.
///
/// It needs of the file system what POSIX asks for: rename is atomic, of directories too, and all clients see it at once.
/// Local file systems, Lustre, GPFS and BeeGFS do that. NFS servers do; an NFS client may believe for some seconds in a
/// name that is gone (attribute cache), but its rename is the server's to decide; a request that is sent again after a
/// lost answer may be told ENOENT though it was done, which an owner takes for a failure.
class FencedDirectory {
 public:
  FencedDirectory(std::string path, std::string private_dir);

  const std::string& path() const { return path_; }
  const std::string& private_dir() const { return private_dir_; }
  /// Where `name` of the directory ("attempts/000003.json" too) is written before it is moved to its place.
  std::string aside(std::string_view name) const;

  // These throw FencedOff if a newer owner has taken the private directory away, else StorageError. If the directory
  // itself is gone (not mounted any more, say) it is one that may pass.

  /// Puts these bytes in the place of `name`, durable and atomic.
  void replace(std::string_view name, std::string_view bytes) const;
  /// Writes these bytes, durable, to aside(name), which is not there afterwards if it throws.
  void write_aside(std::string_view name, std::string_view bytes) const;
  /// Moves what was written to aside(name) to its place, durable.
  void move_out(std::string_view name) const;
  /// A new file, whole and durable; false if there is one by that name.
  bool create(std::string_view name, std::string_view bytes) const;
  /// Moves a file or a directory away and removes it; nothing if there is none.
  void remove(std::string_view name) const;

  /// The private directory is gone though the directory is there: there is a newer owner. For messages and for ending, not
  /// for deciding whether a change may be made. Storage that gives other errors, or that is gone as a whole, fences nobody.
  bool is_fenced() const;

 private:
  std::string place_of(std::string_view name) const;
  [[noreturn]] void explain(std::string_view name, const StorageError& error) const;

  std::string path_;
  std::string private_dir_;
};

/// Takes away the private directory of an older owner: nothing that this owner does from now on changes the directory that
/// `private_dir` is in. Renames it to `fenced` beside it, gives what is in there other names, and removes it all; what
/// cannot be removed is returned as a text to say ("" = all is gone). A symbolic link in its place is removed, and not
/// followed. Does nothing if it is not there. Throws
/// StorageError if it cannot be renamed: then that owner is not fenced off.
std::string fence_off(const std::string& private_dir, const std::string& fenced);

}  // namespace trainrt::io
