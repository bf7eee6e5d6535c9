#include "metrics/columns.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "io/h5.hpp"

namespace trainrt::metrics {

namespace {

using Cells = std::vector<const Record::Value*>;  ///< one a record, null where it lacks the key

template <class T>
bool holds(const Record::Value* value) {
  return value != nullptr && std::holds_alternative<T>(*value);
}

double as_real(const Record::Value* value) {
  if (value == nullptr) return std::numeric_limits<double>::quiet_NaN();
  if (const auto* whole = std::get_if<std::int64_t>(value)) return static_cast<double>(*whole);
  return std::get<double>(*value);
}

std::string as_text(const Record::Value* value) {
  if (value == nullptr) return {};
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, *value);
}

Column column_of(const std::string& key, const Cells& cells) {
  if (std::ranges::all_of(cells, holds<std::int64_t>)) {
    std::vector<std::int64_t> values;
    for (const auto* cell : cells) values.push_back(std::get<std::int64_t>(*cell));
    return {key, std::move(values)};
  }
  if (std::ranges::none_of(cells, holds<std::string>)) {
    std::vector<double> values;
    for (const auto* cell : cells) values.push_back(as_real(cell));
    return {key, std::move(values)};
  }
  std::vector<std::string> values;
  for (const auto* cell : cells) values.push_back(as_text(cell));
  return {key, std::move(values)};
}

bool has_odd_part(const std::string& key) {
  for (std::size_t at = 0; at <= key.size();) {
    const auto slash = std::min(key.find('/', at), key.size());
    const auto part = key.substr(at, slash - at);
    if (part.empty() || part == "." || part == "..") return true;
    at = slash + 1;
  }
  return key.find('%') != std::string::npos;
}

std::string escaped(const std::string& key) {
  std::string name;
  for (const char c : key) {
    if (c == '%')
      name += "%25";
    else if (c == '/')
      name += "%2F";
    else if (c == '.' && name.empty())
      name += "%2E";
    else
      name += c;
  }
  return name.empty() ? "%" : name;
}

}  // namespace

std::vector<Column> columns_of(const std::vector<Record>& records) {
  std::vector<std::pair<std::string, Cells>> found;
  for (std::size_t row = 0; row < records.size(); ++row)
    for (const auto& [key, value] : records[row].values) {
      auto at = std::ranges::find(found, key, &std::pair<std::string, Cells>::first);
      if (at == found.end()) at = found.insert(found.end(), {key, Cells(records.size())});
      at->second[row] = &value;
    }
  std::vector<Column> columns;
  for (const auto& [key, cells] : found) columns.push_back(column_of(key, cells));
  return columns;
}

std::vector<std::string> hdf5_names(const std::vector<Column>& columns) {
  const auto inside_another = [&](const std::string& key) {
    return std::ranges::any_of(columns, [&](const Column& other) { return key.starts_with(other.key + "/"); });
  };
  std::vector<std::string> names;
  for (const auto& column : columns)
    names.push_back(has_odd_part(column.key) || inside_another(column.key) ? escaped(column.key) : column.key);
  return names;
}

std::string metrics_image(const std::vector<Record>& records) {
  const auto columns = columns_of(records);
  const auto names = hdf5_names(columns);
  std::vector<std::int64_t> iterations;
  for (const auto& record : records) iterations.push_back(record.iteration);
  const auto lock = io::h5_lock();
  return io::h5_image([&](hid_t file) {
    io::h5_write_attribute(file, "format", std::string_view("trainrt metrics"));
    io::h5_write_attribute(file, "version", std::int64_t{1});
    io::h5_write(file, "iteration", std::span<const std::int64_t>(iterations));
    for (std::size_t i = 0; i < columns.size(); ++i)
      std::visit([&](const auto& values) { io::h5_write(file, "metrics/" + names[i], std::span(values)); },
                 columns[i].values);
  });
}

}  // namespace trainrt::metrics
