#pragma once
#include <archive.h>
#include <archive_entry.h>

#include <exception>
#include <memory>
#include <string>

#include "program/staging/stage_format.hpp"

namespace trainrt::program::stage {

/// Of libarchive, by its own reference counts: readers and writers are closed with it.
struct FreeArchive {
  void operator()(archive* a) const { archive_free(a); }
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
  void operator()(archive_entry_linkresolver* links) const { archive_entry_linkresolver_free(links); }
};
template <class Part>
using Archived = std::unique_ptr<Part, FreeArchive>;

std::string why(archive* a);

/// Bytes that come from a Fetch, as libarchive reads them. An exception of the Fetch ends the reading, and is thrown again
/// by rethrow().
class FetchedArchive {
 public:
  explicit FetchedArchive(const Fetch& fetch);  ///< a tar, of any compression that libarchive knows; Error if it is not one
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

/// A tar that is written to an Emit.
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

/// Makes the tree of a tar in the current folder.
TreeSize unpack_tar(const Fetch& fetch);

/// Emits a file as it is, and returns its identity. Throws Error if it cannot be read.
std::string emit_file(const std::string& path, const Emit& emit);
std::string identity_of_file(const std::string& path);

}  // namespace trainrt::program::stage
