#include "metrics/typed_columns.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/files/digest.hpp"
#include "io/files/file.hpp"
#include "io/hdf5/untrusted/h5_open.hpp"

namespace trainrt::metrics {

namespace {

/// Returns the last line of metrics.h5. It has a digest of `image`, the bytes before this line, so that readers can detect
/// a damaged file.
std::string seal(std::string_view image) { return "trainrt metrics xxh3_128 " + io::digest_of(image) + "\n"; }

/// Pointers to the values of one metric key, one pointer per record; nullptr if the record lacks the key.
using Cells = std::vector<const Record::Value*>;

template <class T>
bool holds(const Record::Value* value) {
  return value != nullptr && std::holds_alternative<T>(*value);
}

double as_real(const Record::Value* value) {
  return value == nullptr ? std::numeric_limits<double>::quiet_NaN() : Record::real_of(*value).value();
}

std::string as_text(const Record::Value* value) {
  if (value == nullptr) return {};
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, *value);
}

/// Returns whether a value of a metric is missing, or is a number that a double represents exactly.
bool fits_real(const Record::Value* value) {
  const auto* whole = value != nullptr ? std::get_if<std::int64_t>(value) : nullptr;
  return !holds<std::string>(value) && (whole == nullptr || (*whole >= -max_exact_integer && *whole <= max_exact_integer));
}

char kind_of(const Record::Value* value) {
  if (value == nullptr) return '-';
  if (const auto* text = std::get_if<std::string>(value)) return text->find('\0') == std::string::npos ? 't' : 'x';
  return std::holds_alternative<double>(*value) ? 'r' : 'w';
}

/// Returns the types of a column's values, one letter per value (see TypedColumn::kinds); "" if all are of type
/// `default_kind`.
std::string kinds_of(const Cells& cells, char default_kind) {
  std::string kinds;
  for (const auto* cell : cells) kinds += kind_of(cell);
  return kinds.find_first_not_of(default_kind) == std::string::npos ? "" : kinds;
}

TypedColumn column_of(const std::string& key, const Cells& cells) {
  if (std::ranges::all_of(cells, holds<std::int64_t>)) {
    std::vector<std::int64_t> values;
    for (const auto* cell : cells) values.push_back(std::get<std::int64_t>(*cell));
    return {key, std::move(values)};
  }
  if (std::ranges::all_of(cells, fits_real)) {
    std::vector<double> values;
    for (const auto* cell : cells) values.push_back(as_real(cell));
    return {key, std::move(values), kinds_of(cells, 'r')};
  }
  std::vector<std::string> values;
  for (const auto* cell : cells) values.push_back(as_text(cell));
  return {key, std::move(values), kinds_of(cells, 't')};
}

bool needs_escapes(const std::string& key) {
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

std::vector<TypedColumn> typed_columns(const std::vector<Record>& records) {
  std::vector<std::pair<std::string, Cells>> found;
  for (std::size_t row = 0; row < records.size(); ++row)
    for (const auto& [key, value] : records[row].values) {
      auto at = std::ranges::find(found, key, &std::pair<std::string, Cells>::first);
      if (at == found.end()) at = found.insert(found.end(), {key, Cells(records.size())});
      at->second[row] = &value;
    }
  std::vector<TypedColumn> columns;
  for (const auto& [key, cells] : found) columns.push_back(column_of(key, cells));
  return columns;
}

std::vector<std::string> hdf5_names(const std::vector<TypedColumn>& columns) {
  const auto is_below_another = [&](const std::string& key) {
    return std::ranges::any_of(columns, [&](const TypedColumn& other) { return key.starts_with(other.key + "/"); });
  };
  std::vector<std::string> names;
  for (const auto& column : columns)
    names.push_back(needs_escapes(column.key) || is_below_another(column.key) ? escaped(column.key) : column.key);
  return names;
}

std::string metrics_image(const std::vector<Record>& records) {
  const auto columns = typed_columns(records);
  const auto names = hdf5_names(columns);
  std::vector<std::int64_t> iterations;
  for (const auto& record : records) iterations.push_back(record.iteration);
  std::vector<std::string> kinds;
  for (const auto& column : columns) kinds.push_back(column.kinds);
  const auto lock = io::h5_lock();
  const auto image = io::h5_image([&](hid_t file) {
    io::h5_write_attribute(file, "format", std::string_view("trainrt metrics"));
    io::h5_write_attribute(file, "version", std::int64_t{1});
    io::h5_write(file, "iteration", std::span<const std::int64_t>(iterations));
    io::h5_write(file, "keys", std::span<const std::string>(names));
    io::h5_write(file, "kinds", std::span<const std::string>(kinds));
    for (std::size_t i = 0; i < columns.size(); ++i)
      std::visit([&](const auto& values) { io::h5_write(file, "metrics/" + names[i], std::span(values)); },
                 columns[i].values);
  });
  return image + seal(image);
}

namespace {

void require_seal(const std::string& path) {
  const auto bytes = io::read_file(path);
  const auto length = seal("").size();
  const auto body = std::string_view(bytes).substr(0, bytes.size() - std::min(bytes.size(), length));
  if (bytes.size() < length || std::string_view(bytes).substr(body.size()) != seal(body))
    throw Error("'" + path + "' is damaged or was written by an older version of trainrt: it does not end with its digest");
}

std::string key_of(const std::string& name) {
  if (name == "%") return {};
  std::string key;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto escape = name.substr(i, 3);
    const char plain = escape == "%25" ? '%' : escape == "%2F" ? '/' : escape == "%2E" ? '.' : '\0';
    key += plain == '\0' ? name[i] : plain;
    if (plain != '\0') i += 2;
  }
  return key;
}

Record::Value value_of_kind(char kind, const std::string& text) {
  if (kind == 't') return text;
  if (kind == 'w') return std::stoll(text);
  return std::strtod(text.c_str(), nullptr);
}

Record::Value value_of_kind(char kind, double number) {
  if (kind == 'w') return static_cast<std::int64_t>(number);
  return number;
}

Record::Value value_of_kind(char, std::int64_t number) { return number; }

template <class T>
void add_column(std::vector<Record>& records, const std::string& name, const std::vector<T>& values,
                const std::string& kinds) {
  if (values.size() != records.size() || (!kinds.empty() && kinds.size() != records.size()))
    throw Error("'metrics/" + name + "' and 'iteration' have different lengths");
  const auto key = key_of(name);
  for (std::size_t row = 0; row < records.size(); ++row) {
    const char kind = !kinds.empty() ? kinds[row] : std::is_same_v<T, std::string> ? 't' : 'r';
    if (kind == 'x') throw Error("'metrics/" + name + "' has a text that HDF5 cannot hold");
    if (kind != '-') records[row].values.emplace_back(key, value_of_kind(kind, values[row]));
  }
}

}  // namespace

std::vector<Record> metrics_records(const std::string& path) try {
  require_seal(path);
  const auto lock = io::h5_lock();
  const auto file = io::h5_open(path);
  if (io::h5_read_text(file, "format") != "trainrt metrics") throw Error("it is not a metrics file");
  std::vector<Record> records;
  for (const auto iteration : io::h5_read_i64_list(file, "iteration")) records.push_back({iteration, {}});
  const auto names = io::h5_read_string_list(file, "keys");
  const auto kinds = io::h5_read_string_list(file, "kinds");
  if (kinds.size() != names.size()) throw Error("'kinds' and 'keys' have different lengths");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto dataset = "metrics/" + names[i];
    const auto type = io::h5_list_type(file, dataset);
    if (type == "i64")
      add_column(records, names[i], io::h5_read_i64_list(file, dataset), kinds[i]);
    else if (type == "f64")
      add_column(records, names[i], io::h5_read_f64_list(file, dataset), kinds[i]);
    else
      add_column(records, names[i], io::h5_read_string_list(file, dataset), kinds[i]);
  }
  for (auto& record : records)
    std::ranges::stable_partition(record.values, [](const auto& value) { return !value.first.starts_with("_"); });
  return records;
} catch (const std::logic_error& error) {  // thrown by std::stoll for an invalid number
  throw Error("'" + path + "' contains an invalid number: " + error.what());
}

}  // namespace trainrt::metrics
