#pragma once
#include <archive.h>
#include <archive_entry.h>

#include <exception>
#include <memory>
#include <string>

#include "program/staging/stage_format.hpp"

namespace trainrt::program::stage {

/// Deleter of libarchive objects. Freeing a reader or writer also closes it.
struct FreeArchive {
  void operator()(archive* a) const { archive_free(a); }
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
  void operator()(archive_entry_linkresolver* links) const { archive_entry_linkresolver_free(links); }
};
template <class Object>
using Archived = std::unique_ptr<Object, FreeArchive>;

/// Returns the message of the last error of the archive `a`.
std::string why(archive* a);

/// A tar that libarchive reads by calls of the function `fetch` (Fetch). If `fetch` throws, libarchive reports a read
/// error, and rethrow() throws the exception of `fetch`.
class FetchedArchive {
 public:
  explicit FetchedArchive(const Fetch& fetch);  ///< accepts any compression of libarchive; throws Error if not a tar
  archive* get() const { return archive_.get(); }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  static la_ssize_t next(archive*, void* self, const void** bytes);

  const Fetch& fetch_;
  std::exception_ptr thrown_;
  Archived<archive> archive_;
};

/// A tar that libarchive writes by calls of the function `emit` (Emit). If `emit` throws, libarchive reports a write error,
/// and rethrow() throws the exception of `emit`.
class EmittedArchive {
 public:
  explicit EmittedArchive(const Emit& emit);
  archive* get() const { return archive_.get(); }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }
  void close();

 private:
  static la_ssize_t put(archive*, void* self, const void* bytes, std::size_t count);

  const Emit& emit_;
  std::exception_ptr thrown_;
  Archived<archive> archive_;
};

/// Unpacks a tar into the current folder and returns the size of the unpacked tree. Throws Error if that fails.
TreeSize unpack_tar(const Fetch& fetch);

/// Emits the content of a file and returns its identity_of_file(). Throws Error if the file cannot be read.
std::string emit_file(const std::string& path, const Emit& emit);
std::string identity_of_file(const std::string& path);

}  // namespace trainrt::program::stage
