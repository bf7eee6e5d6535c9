#include "checkpoint/file_layout.hpp"

#include <array>
#include <map>
#include <string>
#include <trainrt/error.hpp>

#include "core/text.hpp"

namespace trainrt::checkpoint {

namespace {

const std::array<std::string, 3> words{"rank", "node", "single"};  // in the order of the enumeration

}  // namespace

std::string_view name_of(FileLayout layout) { return words.at(static_cast<std::size_t>(layout)); }

FileLayout file_layout_from(std::string_view word) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == word) return static_cast<FileLayout>(i);
  throw UsageError("no such layout of files: '" + std::string(word) + "'" + did_you_mean(word, words) +
                   "; there are: " + join(words));
}

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
