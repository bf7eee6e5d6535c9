#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// Files that are opened when they are first read, so many at once at most. Any threads may ask.
class OpenFileCache {
 public:
  static constexpr std::size_t most_open = 64;

  explicit OpenFileCache(std::vector<DataFile> files) : files_(std::move(files)), open_(files_.size()) {}
  std::shared_ptr<const InputFile> get(std::size_t number) const;

 private:
  std::vector<DataFile> files_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const InputFile>> open_;
  mutable std::vector<std::size_t> order_;  // those that are open, the oldest first
};

}  // namespace trainrt::data
