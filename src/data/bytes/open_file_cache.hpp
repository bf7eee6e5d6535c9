#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// A numbered list of resources, such as files. Each resource is opened at its first use. At most `max_open` resources
/// stay open: if one more is opened, the least recently used one is closed as soon as nobody uses it. Thread-safe.
template <class T>
class OpenCache {
 public:
  using Open = std::function<std::shared_ptr<const T>(std::size_t number)>;

  OpenCache(std::size_t count, Open open, std::size_t max_open)
      : open_(std::move(open)), max_open_(max_open), opened_(count) {}
  /// Returns the resource with index `number`, and opens it if necessary. Throws the exceptions of `open`.
  std::shared_ptr<const T> get(std::size_t number) const {
    const std::lock_guard lock(mutex_);
    if (!opened_.at(number)) opened_[number] = open_(number);
    const auto found = opened_[number];
    if (opened_.size() <= max_open_) return found;
    std::erase(recent_, number);
    recent_.push_back(number);
    if (recent_.size() > max_open_) {
      opened_[recent_.front()] = nullptr;
      recent_.erase(recent_.begin());
    }
    return found;
  }
  /// Closes all resources. Each is opened again at its next use.
  void close() const {
    const std::lock_guard lock(mutex_);
    for (auto& one : opened_) one = nullptr;
    recent_.clear();
  }
  /// Returns whether all resources are open and `predicate` is true for each of them.
  template <class Predicate>
  bool all_open(Predicate predicate) const {
    const std::lock_guard lock(mutex_);
    for (const auto& one : opened_)
      if (!one || !predicate(*one)) return false;
    return true;
  }

 private:
  Open open_;
  std::size_t max_open_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const T>> opened_;
  mutable std::vector<std::size_t> recent_;  ///< indices of the open resources, the most recently used last
};

/// The files of a dataset, of which at most 64 are open at the same time.
class OpenFileCache : public OpenCache<InputFile> {
 public:
  explicit OpenFileCache(const std::vector<DataFile>& files)
      : OpenCache(
            files.size(), [files](std::size_t number) { return std::make_shared<const InputFile>(files[number]); }, 64) {}
};

}  // namespace trainrt::data
