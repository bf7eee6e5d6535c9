#include "checkpoint/file_layout.hpp"

#include <map>

namespace trainrt::checkpoint {

std::vector<int> files_of_ranks(FileLayout layout, std::span<const int> node_of_rank) {
  std::vector<int> files;
  std::map<int, int> numbers;
  for (const int node : node_of_rank) {
    const int rank = static_cast<int>(files.size());
    const int key = layout == FileLayout::rank ? rank : layout == FileLayout::node ? node : 0;
    files.push_back(numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
  }
  return files;
}

}  // namespace trainrt::checkpoint
