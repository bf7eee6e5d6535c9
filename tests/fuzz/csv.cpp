// Reads CSV tables: probes the file and reads it with several methods, which must return equal values.
#include "data/records/record_formats.hpp"

#include <numeric>

#include "data/bytes/data_file.hpp"
#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

namespace {

constexpr data::RecordLimits limits{.spacing = 40, .max_probed = 4};

/// Returns keys of the dataset. `choice`, the first byte of the input, selects which keys are set.
Options options(unsigned char choice) {
  Options made;
  const auto set = [&](const char* key, const char* value) { made.set(key, {value, "x.ini:1"}); };
  set("delimiter", (choice & 1) != 0 ? "tab" : ",");
  set("quotes", (choice & 2) != 0 ? "false" : "true");
  set("header", (choice & 4) != 0 ? "false" : "true");
  set("vector", (choice & 8) != 0 ? "x" : "");
  set("na", (choice & 16) != 0 ? "NA, -9" : "null");
  set("types", (choice & 32) != 0 ? "a:i16, b:f32" : "");
  set("columns", "");
  set("max_record_bytes", "2000");
  return made;
}

std::vector<data::Column> all_of(const data::Source& source) {
  std::vector<std::uint64_t> samples(source.size());
  std::iota(samples.begin(), samples.end(), 0);
  std::vector<data::Column> columns(source.fields().size());
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i].field = i;
  source.read(samples, columns);
  return columns;
}

/// Reads the samples one by one, from the last to the first, and requires the values of `all`.
void require_same(const data::Source& source, const std::vector<data::Column>& all) {
  for (std::uint64_t sample = source.size(); sample-- > 0;)
    for (const auto& column : all) {
      data::Column one{column.field, {}, {}};
      source.read({&sample, 1}, {&one, 1});
      const bool varies = source.fields()[column.field].varies;
      const auto bytes = varies ? 0 : data::sample_bytes(source.fields()[column.field]);
      const auto begin = !varies ? sample * bytes : sample == 0 ? 0 : column.ends[sample - 1];
      const auto end = varies ? column.ends[sample] : begin + bytes;
      const std::vector<std::byte> expected(column.values.begin() + static_cast<std::ptrdiff_t>(begin),
                                            column.values.begin() + static_cast<std::ptrdiff_t>(end));
      require(one.values == expected, "a value does not depend on the method of reading");
    }
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string mark = "\xef\xbb\xbf";
  return {std::string("\0", 1) + "a,b,c\n1,2.5,x\r\n-3,1e-7,\"y \"\"z\"\"\n,\"\"\n\n4,NA,w\n",
          std::string("\1", 1) + "a\tb\n1\t2\n3\t4\n",
          std::string("\2", 1) + mark + "a,b\n5\" x,1\n",
          std::string("\4", 1) + "12345678901234567890,0.1234567890123456789\n1,9007199254740993.5\n",
          std::string("\x28", 1) + "a,b,c,d\n1,2,3,true\n-4,5,6,false\n",
          std::string("\x10", 1) + "a\n-9\n1\n\"2\n\"\n"};
}

std::vector<std::string> words() {
  return {"\"", "\"\"", "\r\n", ",", "\n\n", "nan", "1e400", "-inf", "true", "NA", "\xef\xbb\xbf"};
}

void read(const std::string& input) {
  if (input.empty()) return;
  static MemoryFile memory;
  memory.hold(input.substr(1));
  const auto file = data::data_file(memory.path());
  const auto given = options(static_cast<unsigned char>(input[0]));
  const auto content = unless_refused<UsageError>([&] { return data::probe_csv(file, given, limits); });
  if (!content) return;
  const auto source = data::open_csv(file, *content, given, false);
  require(source->size() == content->samples && source->size() > 0, "a table has as many samples as were found");
  const auto all = unless_refused<UsageError>([&] { return all_of(*source); });
  const auto kept = unless_refused<UsageError>([&] { return data::open_csv(file, *content, given, true); });
  require(all.has_value() == kept.has_value(), "a table that can be kept can be read");
  if (!all) return;
  require_same(*source, *all);
  require_same(**kept, *all);
}

}  // namespace trainrt::fuzz
