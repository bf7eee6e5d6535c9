#pragma once
#include <string>

#include "data/bytes/data_file.hpp"
#include "io/files/file.hpp"

namespace trainrt::data {

/// A file in memory (memfd_create(2)) with content of an object, for code that needs a path. It has the object's size. A
/// gzip file is copied completely; of other objects only the first 4 KiB are copied, and the rest is a hole, which takes no
/// memory. The constructor throws UsageError if the node has too little memory.
class LocalCopy {
 public:
  explicit LocalCopy(const DataFile& object);
  const std::string& path() const { return path_; }  ///< valid in this process, while this object lives

 private:
  io::Descriptor memory_;
  std::string path_;
};

}  // namespace trainrt::data
