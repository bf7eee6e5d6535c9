#pragma once
#include <archive.h>
#include <archive_entry.h>

#include <exception>
#include <memory>
#include <string>

#include "program/staging/stage_format.hpp"

namespace trainrt::program::stage {

/// Frees objects of libarchive, which closes readers and writers too.
struct FreeArchive {
  void operator()(archive* a) const { archive_free(a); }
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
  void operator()(archive_entry_linkresolver* links) const { archive_entry_linkresolver_free(links); }
};
template <class Object>
using Archived = std::unique_ptr<Object, FreeArchive>;

/// Returns the last error of an archive.
std::string why(archive* a);

/// A tar that libarchive reads from a Fetch. An exception of the Fetch ends the reading; rethrow() throws it again.
class FetchedArchive {
 public:
  explicit FetchedArchive(const Fetch& fetch);  ///< any compression of libarchive; throws Error if it is not a tar
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

/// A tar that libarchive writes to an Emit.
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

/// Unpacks a tar into the current folder.
TreeSize unpack_tar(const Fetch& fetch);

/// Emits the content of a file and returns its identity. Throws Error if the file cannot be read.
std::string emit_file(const std::string& path, const Emit& emit);
std::string identity_of_file(const std::string& path);

}  // namespace trainrt::program::stage
