#include "data/bytes/open_file_cache.hpp"

namespace trainrt::data {

std::shared_ptr<const InputFile> OpenFileCache::get(std::size_t number) const {
  const std::lock_guard lock(mutex_);
  auto& file = open_.at(number);
  if (file) return file;
  if (order_.size() == most_open) {
    open_[order_.front()] = nullptr;  // whoever reads it still has it
    order_.erase(order_.begin());
  }
  file = std::make_shared<const InputFile>(files_[number]);
  order_.push_back(number);
  return file;
}

}  // namespace trainrt::data
