#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "data/bytes/data_file.hpp"
#include "data/bytes/read_method.hpp"

namespace trainrt::data {

/// A file of a dataset, open for reading at given offsets, by any number of threads, as DataFile::way says. Storage that is
/// away is waited for. Throws Error that names the file if it was changed or cut since it was listed.
class InputFile {
 public:
  explicit InputFile(const DataFile& file);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return file_.path; }
  std::uint64_t size() const { return file_.size; }
  /// All of `into`, from `offset` on; a file that ends before is an Error.
  void read(std::uint64_t offset, std::span<std::byte> into) const {
    const FilePart part{offset, into};
    read({&part, 1});
  }
  /// The same of several parts, at the same time if the file's way of reading can.
  void read(std::span<const FilePart> parts) const;
  std::size_t max_in_flight() const;  ///< parts that are read at the same time

 private:
  void read_plain(std::span<const FilePart> parts) const;

  DataFile file_;
  std::unique_ptr<class InputHandles> handles_;
};

}  // namespace trainrt::data
