#pragma once
#include <string>

#include "data/bytes/data_file.hpp"
#include "io/files/file.hpp"

namespace trainrt::data {

/// An object in the memory of this machine, as a file for those who need a path. If it is gzip, all its bytes; else the
/// first 4 KiB, and zeros up to its size, which take no memory: what is not compressed is read at its places. Throws
/// UsageError if there is no memory for it.
class LocalCopy {
 public:
  explicit LocalCopy(const DataFile& object);
  const std::string& path() const { return path_; }

 private:
  io::Descriptor memory_;
  std::string path_;
};

}  // namespace trainrt::data
