#include "data/section/named_files.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "core/text/text.hpp"
#include "data/bytes/by_order.hpp"
#include "data/reshape/operation.hpp"

namespace trainrt::data {

namespace {

void add_marked(const std::string& text, std::vector<DataFile>& files) {
  if (!text.starts_with('@')) return;
  for (auto& file : list_data_files(trim(std::string_view(text).substr(1)))) files.push_back(std::move(file));
}

}  // namespace

std::vector<DataFile> named_files(const Options& options) {
  std::vector<DataFile> files;
  for (const auto* key : {"rows", "preprocess"}) add_marked(options.text(key), files);
  for (const auto* kind : by_order(operation_table(), &OperationKind::place))
    if (kind->reads_file) add_marked(options.text(kind->name), files);
  return files;
}

}  // namespace trainrt::data
