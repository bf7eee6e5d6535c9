#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "checkpoint/save/directories.hpp"
#include "io/files/file.hpp"

namespace trainrt::checkpoint {

/// Reads a file that report() was given from its beginning to its end. Whatever goes wrong is GivenUnreadable: the train
/// function's failure, and not that of the run's storage.
class GivenReader {
 public:
  explicit GivenReader(const GivenFile& file);
  /// Fills all of `into`.
  void read(std::span<std::byte> into);
  /// All was read that was listed: there must be no more.
  void end();

 private:
  const GivenFile& file_;
  io::FileReader reader_;
};

}  // namespace trainrt::checkpoint
