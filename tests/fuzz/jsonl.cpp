// Reads JSON lines: scans the file, then reads single samples and all samples at once, which must return equal values.
#include <numeric>

#include "data/bytes/data_file.hpp"
#include "data/records/record_formats.hpp"
#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

namespace {

constexpr data::RecordLimits limits{.spacing = 40, .max_probed = 3};

Options options() {
  Options made;
  made.set("columns", {"", "x.ini:1"});
  made.set("types", {"", "x.ini:1"});
  made.set("max_record_bytes", {"4000", "x.ini:1"});
  return made;
}

void require_same(const data::Source& a, const data::Source& b, const std::vector<std::uint64_t>& samples) {
  for (std::size_t field = 0; field < a.fields().size(); ++field) {
    data::Column one{field, {}, {}}, other{field, {}, {}};
    a.read(samples, {&one, 1});
    b.read(samples, {&other, 1});
    require(one.values == other.values && one.ends == other.ends, "a value does not depend on the method of reading");
    const auto& each = a.fields()[field];
    require(each.varies ? one.ends.size() == samples.size() && one.ends.back() == one.values.size()
                        : one.values.size() == samples.size() * data::sample_bytes(each),
            "each sample has its values");
  }
}

}  // namespace

std::vector<std::string> seeds() {
  return {
      "{\"a\": 1, \"b\": [1, 2.5], \"t\": \"x\\n\\u00fc\", \"l\": [1]}\n\n"
      "{\"a\": 2, \"b\": [3, null], \"t\": null, \"l\": []}\r\n"
      "{\"l\": [4, 5], \"a\": -3, \"b\": [3, 1], \"t\": \"\", \"more\": {\"x\": [[1]]}}",
      "{\"a\": true}\n{\"a\": false}\n{\"a\": true}\n{\"a\": 3}\n", "{\"a\": 18446744073709551615}\n", deep_json()};
}

std::vector<std::string> words() {
  return {"{\"a\":", "null", "true", "[", "]", "\"t\":\"", "}\n{", "1e400", "-1", ",\"b\":"};
}

void read(const std::string& input) {
  static MemoryFile memory;
  memory.hold(input);
  const auto file = data::data_file(memory.path());
  const auto content = unless_refused<UsageError>([&] { return data::probe_json_lines(file, options(), limits); });
  if (!content) return;
  const auto source = data::open_json_lines(file, *content, false);
  require(source->size() == content->samples && source->size() > 0, "there are as many samples as were found");
  const auto kept = unless_refused<UsageError>([&] { return data::open_json_lines(file, *content, true); });
  if (!kept || !(*kept)->is_resident()) return;
  std::vector<std::uint64_t> samples(source->size());
  std::iota(samples.begin(), samples.end(), 0);
  require_same(*source, **kept, samples);
  for (auto& sample : samples) sample = sample * 7919 % source->size();
  require_same(*source, **kept, samples);
}

}  // namespace trainrt::fuzz
