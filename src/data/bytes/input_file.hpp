#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "data/bytes/data_file.hpp"
#include "data/bytes/read_method.hpp"

namespace trainrt::data {

/// An open file of a dataset, which is read by the method DataFile::read_method, or an open object of an object store.
/// Thread-safe. While the storage is unavailable, the functions retry like io::retried(). If the file was changed after
/// it was listed, the functions throw Error, which names the file.
class InputFile {
 public:
  explicit InputFile(const DataFile& file);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return file_.path; }
  std::uint64_t size() const { return file_.size; }
  /// Fills `into` with the file's bytes from `offset` on. Throws Error if the file ends before `into` is full.
  void read(std::uint64_t offset, std::span<std::byte> into) const {
    const FilePart part{offset, into};
    read({&part, 1});
  }
  /// Fills `into` of each element of `parts`. Reads the parts at the same time if the read method can do so.
  void read(std::span<const FilePart> parts) const;
  std::size_t max_in_flight() const;  ///< maximum number of parts that are read at the same time

 private:
  struct Handle;
  std::shared_ptr<const Handle> handle() const;
  void read_unverified(std::span<const FilePart> parts) const;

  DataFile file_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Handle> handle_;  ///< nullptr: the file is opened by the next read
};

/// Returns the content of a file.
std::string read_text(const DataFile& file);

}  // namespace trainrt::data
