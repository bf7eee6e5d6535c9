#include "data/records/csv_values.hpp"

#include <cstring>

#include <trainrt/error.hpp>

namespace trainrt::data {

namespace {

const char* find(const char* begin, const char* end, char wanted) {
  if (begin == end) return end;
  const auto* found = static_cast<const char*>(std::memchr(begin, wanted, static_cast<std::size_t>(end - begin)));
  return found == nullptr ? end : found;
}

CsvValue quoted_value(const char* begin, const char* end, char delimiter, std::string& scratch) {
  const char* at = begin + 1;
  const char* quote = find(at, end, '"');
  if (quote != end && (quote + 1 == end || quote[1] == delimiter))
    return {{at, static_cast<std::size_t>(quote - at)}, quote + 1};
  for (scratch.clear();; quote = find(at, end, '"')) {
    if (quote == end) throw UsageError("a quote in it is not closed");
    scratch.append(at, quote);
    if (quote + 1 == end || quote[1] != '"') break;
    scratch += '"';
    at = quote + 2;
  }
  if (quote + 1 != end && quote[1] != delimiter) throw UsageError("a quote in it closes before the end of the value");
  return {scratch, quote + 1};
}

}  // namespace

CsvValue csv_value(const char* begin, const char* end, char delimiter, bool quotes, std::string& scratch) {
  if (quotes && begin != end && *begin == '"') return quoted_value(begin, end, delimiter, scratch);
  const auto* stop = find(begin, end, delimiter);
  return {{begin, static_cast<std::size_t>(stop - begin)}, stop};
}

std::vector<std::string> csv_values(std::string_view row, char delimiter, bool quotes) {
  std::vector<std::string> values;
  std::string scratch;
  const auto* end = row.data() + row.size();
  for (const auto* at = row.data();; ++at) {
    const auto value = csv_value(at, end, delimiter, quotes, scratch);
    values.emplace_back(value.text);
    at = value.end;
    if (at == end) return values;
  }
}

}  // namespace trainrt::data
