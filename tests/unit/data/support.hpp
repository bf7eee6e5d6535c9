#pragma once
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <catch2/catch.hpp>

#include "data/section/open_dataset.hpp"
#include "support/cpp/scratch.hpp"

namespace data_test {

using namespace trainrt;
namespace fs = std::filesystem;

using test::Scratch;

inline void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

inline std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Options options(const std::map<std::string, std::string>& values) {
  Options made;
  for (const auto& [key, value] : values) made.set(key, {value, "train.ini:7"});
  return made;
}

inline std::shared_ptr<DatasetImpl> open(const std::map<std::string, std::string>& values) {
  return data::open_dataset("train", options(values), data::list_dataset("train", options(values)), {}, 1);
}

/// Replaces the source of a dataset.
inline void set_source(DatasetImpl& dataset, std::shared_ptr<const data::Source> source) {
  auto plan = dataset.plan();
  plan.source = std::move(source);
  dataset.replace(std::move(plan));
}

inline void check(const std::map<std::string, std::string>& values) { data::list_dataset("train", options(values)); }

template <class T>
std::vector<T> gathered(const DatasetImpl& dataset, std::size_t field, const std::vector<std::uint64_t>& indices) {
  data::Column column{field, {}, {}};
  dataset.source()->read(indices, {&column, 1});
  std::vector<T> values(column.values.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), column.values.data(), column.values.size());
  return values;
}

/// Expects the same error of check() and open() for an invalid file: it names the section and the file, and contains `why`.
inline void both_say(const std::map<std::string, std::string>& values, const std::string& file, const std::string& why) {
  CHECK_THROWS_WITH(check(values), Catch::Contains("[data.train]") && Catch::Contains(file) && Catch::Contains(why));
  CHECK_THROWS_WITH(open(values), Catch::Contains("[data.train]") && Catch::Contains(file) && Catch::Contains(why));
}

}  // namespace data_test
