#include "data/section/referenced_files.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "core/text/text.hpp"
#include "data/bytes/in_place.hpp"
#include "data/reshape/operation.hpp"
#include "data/text/field_wishes.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

void add_marked(const std::string& text, std::vector<DataFile>& files) {
  if (!text.starts_with('@')) return;
  for (auto& file : list_data_files(trim(std::string_view(text).substr(1)))) files.push_back(std::move(file));
}

}  // namespace

std::vector<DataFile> referenced_files(const Options& options) {
  std::vector<DataFile> files;
  for (const auto* key : {"subset", "preprocess"}) add_marked(options.text(key), files);
  for (const auto* kind : in_place(operation_table()))
    if (kind->reads_file) add_marked(options.text(kind->name), files);
  for (const auto* transform : in_place(transform_table())) {
    if (!transform->reads_file) continue;
    for (const auto& wish : field_wishes(options.text(transform->name), transform->arguments))
      files.push_back(data_file(wish.arguments.at(0)));
  }
  return files;
}

}  // namespace trainrt::data
