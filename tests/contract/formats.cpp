// Checks the contract of every data format of format_table(), with small files that format_files() writes.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "contract/format_files.hpp"
#include "contract/walked_samples.hpp"
#include "data/section/open_dataset.hpp"
#include "data/source/format.hpp"
#include "support/cpp/skip.hpp"

using namespace trainrt;
using Catch::Matchers::Contains;
using contract::Samples;
using contract::walk;
using contract::WrittenDataset;
using test::Scratch;

namespace {

constexpr std::size_t many = 12;
using Keys = std::map<std::string, std::string>;

/// Sets the path of this build's modules, which are in the folder beside that of the tests, before the process reads its
/// environment.
[[maybe_unused]] const int module_path =
    setenv("TRAINRT_MODULE_PATH",
           (std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "modules").c_str(), 0);

/// Returns a section with the format and a value for each required key except `missing`.
Options section_without(const data::Format& format, std::string_view missing) {
  Options section;
  section.set("format", {std::string(format.name), "train.ini:7"});
  if (format.has_files && missing != "source") section.set("source", {"/no/such/file", "train.ini:8"});
  for (const auto& option : format.options)
    if (option.required && option.key != missing)
      section.set(option.key, {option.type == OptionType::text || option.type == OptionType::path ? "/no/such/file" : "4",
                               "train.ini:8"});
  return section;
}

Options section_of(std::string_view format, const Keys& keys, const Keys& more = {}) {
  Options section;
  section.set("format", {std::string(format), "train.ini:7"});
  for (const auto* each : {&keys, &more})
    for (const auto& [key, text] : *each) section.set(key, {text, "train.ini:8"});
  return section;
}

/// A dataset that was listed once, and can be opened any number of times.
class Listed {
 public:
  explicit Listed(Options section) : section_(std::move(section)), listing_(data::list_dataset("train", section_)) {}
  std::shared_ptr<DatasetImpl> open() const { return data::open_dataset("train", section_, listing_, {}, 1); }

 private:
  Options section_;
  data::Listing listing_;
};

/// Calls `check` for each row of format_files() with 12 samples. Formats that this build lacks are skipped.
template <class Check>
void for_each_format(const Check& check) {
  for (const auto& row : contract::format_files()) {
    INFO(row.format);
    const Scratch folder;
    std::optional<WrittenDataset> written;
    try {
      written = row.write(folder, many);
      data::list_dataset("train", section_of(row.format, written->keys));
    } catch (const UsageError& error) {
      if (std::string_view(error.what()).find("built without") == std::string_view::npos) throw;
      test::skip(fmt::format("{}: {}", row.format, error.what()));
      continue;
    }
    check(row, *written);
  }
}

/// Reads a damaged dataset completely. Returns its samples, or nothing if an Error was thrown; it must name `file`.
std::optional<Samples> samples_of_damaged(const Options& section, const std::string& file) try {
  return walk(Listed(section).open(), 5);
} catch (const Error& error) {
  CHECK_THAT(error.what(), Contains(std::filesystem::path(file).filename().string()));
  return std::nullopt;
}

std::string bytes_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void replace(const std::string& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

}  // namespace

TEST_CASE("every data format names a required key that is missing, and the section") {
  for (const auto* format : data::format_table()) {
    INFO(format->name);
    if (format->has_files)
      CHECK_THROWS_WITH(data::list_dataset("train", section_without(*format, "source")),
                        Contains("[data.train]") && Contains("source"));
    for (const auto& option : format->options) {
      INFO(format->name << ": " << option.key);
      if (option.required)
        CHECK_THROWS_WITH(data::list_dataset("train", section_without(*format, option.key)),
                          Contains("[data.train]") && Contains(option.key));
    }
  }
}

TEST_CASE("every data format has a row of files for these tests") {
  std::set<std::string_view> rows;
  for (const auto& row : contract::format_files()) CHECK(rows.insert(row.format).second);
  for (const auto* format : data::format_table()) {
    INFO(format->name << " needs a row in tests/contract/format_files.cpp");
    CHECK(rows.contains(format->name));
  }
  CHECK(rows.size() == data::format_table().size());
}

TEST_CASE("every data format names an unknown key with its line, the section and the nearest valid key") {
  for (const auto* format : data::format_table())
    for (const auto& option : format->options) {
      INFO(format->name << ": " << option.key);
      auto section = section_without(*format, "");
      section.set(option.key + "s_", {"1", "train.ini:9"});
      CHECK_THROWS_WITH(data::list_dataset("train", section),
                        Contains("[data.train]") && Contains("train.ini:9: unknown key '" + option.key + "s_'") &&
                            (Contains("did you mean '" + option.key + "'") || Contains("trainrt list")));
    }
}

TEST_CASE("a key of another data format is an error that names both formats") {
  Options section;
  section.set("format", {"csv", "train.ini:3"});
  section.set("features", {"4", "train.ini:4"});
  CHECK_THROWS_WITH(
      data::list_dataset("train", section),
      Contains("train.ini:4: unknown key 'features' in [data.train]: the format csv does not have this key of "
               "synthetic; `trainrt list csv` shows the keys of csv"));
}

TEST_CASE("every data format reports missing files with section and path") {
  for (const auto* format : data::format_table()) {
    INFO(format->name);
    if (format->has_files)
      CHECK_THROWS_WITH(data::list_dataset("train", section_without(*format, "")),
                        Contains("[data.train]") && Contains("/no/such/file"));
  }
}

TEST_CASE("every data format refuses a dataset without samples, with section and path") {
  for_each_format([](const auto& row, const WrittenDataset&) {
    const Scratch folder;
    const auto empty = row.write(folder, 0);
    CHECK_THROWS_WITH(data::list_dataset("train", section_of(row.format, empty.keys)),
                      Contains("[data.train]") && Contains(empty.file.empty() ? "" : empty.keys.at("source")));
  });
}

TEST_CASE("every data format gives a dataset of one sample") {
  for_each_format([](const auto& row, const WrittenDataset&) {
    const Scratch folder;
    const auto one = row.write(folder, 1);
    const auto dataset = Listed(section_of(row.format, one.keys)).open();
    CHECK(Dataset(dataset).size() == 1);
    CHECK(walk(dataset, 4).size() == 1);
  });
}

TEST_CASE("every data format with floats gives their values, NaN as NaN") {
  for_each_format([](const auto& row, const WrittenDataset& written) {
    if (row.float_field.empty()) return;
    const auto expected = contract::sample_values(many);
    const auto keys = section_of(row.format, written.keys, {{"cast", fmt::format("{}: f32", row.float_field)}});
    std::vector<float> found;
    for (const auto& batch : Dataset(Listed(keys).open()).epoch(0).batches(5, Remainder::uneven)) {
      const auto* const values = static_cast<const float*>(batch.field(row.float_field).data);
      found.insert(found.end(), values, values + batch.size());
    }
    REQUIRE(found.size() == many);
    for (std::size_t i = 0; i < many; ++i) {
      INFO(i);
      CHECK((std::isnan(expected[i]) ? std::isnan(found[i]) : found[i] == expected[i]));
    }
  });
}

TEST_CASE("every data format gives the same batches with any number of threads, in memory and read ahead") {
  for_each_format([](const auto& row, const WrittenDataset& written) {
    const auto walk_with = [&](const std::string& memory, const std::string& threads) {
      return walk(
          Listed(section_of(row.format, written.keys, {{"shuffle", "true"}, {"memory", memory}, {"threads", threads}}))
              .open(),
          2);
    };
    const auto alone = walk_with("256 MiB", "0");
    CHECK(std::set<std::string>(alone.begin(), alone.end()).size() == many);
    for (const std::string memory : {"256 MiB", "1 KiB"})
      for (const std::string threads : {"1", "4"}) {
        INFO(memory << ", threads = " << threads);
        CHECK(walk_with(memory, threads) == alone);
      }
  });
}

TEST_CASE("every data format continues at any sample after a stop") {
  for_each_format([](const auto& row, const WrittenDataset& written) {
    const Listed listed(section_of(row.format, written.keys, {{"shuffle", "true"}, {"memory", "1 KiB"}}));
    CHECK(contract::check_restarts([&] { return listed.open(); }).size() == many);
  });
}

TEST_CASE("every data format names a file that was cut") {
  for_each_format([](const auto& row, const WrittenDataset& written) {
    if (written.file.empty()) return;
    const auto section = section_of(row.format, written.keys);
    const auto complete = bytes_of(written.file);
    for (std::size_t part = 0; part < 8; ++part) {
      const auto size = complete.size() * part / 8;
      INFO("cut to " << size << " of " << complete.size() << " bytes");
      replace(written.file, complete.substr(0, size));
      const auto samples = samples_of_damaged(section, written.file);
      if (row.detects_cuts) CHECK_FALSE(samples);
      if (samples) CHECK(samples->size() <= many);
    }
    replace(written.file, complete);
    CHECK(samples_of_damaged(section, written.file));
  });
}

TEST_CASE("every data format reads a file with wrong bytes, or names it") {
  for_each_format([](const auto& row, const WrittenDataset& written) {
    if (written.file.empty()) return;
    const auto section = section_of(row.format, written.keys);
    const auto whole = bytes_of(written.file);
    for (std::size_t at = 0; at < whole.size(); at += whole.size() / 12 + 1) {
      INFO("byte " << at << " of " << whole.size());
      auto damaged = whole;
      damaged[at] = static_cast<char>(~damaged[at]);
      replace(written.file, damaged);
      CHECK_NOTHROW(samples_of_damaged(section, written.file));
    }
  });
}

TEST_CASE("no two data formats claim the same name of a source") {
  for (const std::string name :
       {"train-images-idx3-ubyte", "x.idx1-ubyte.gz", "x.h5", "x.csv", "x.jpg", "x.tar", "x.tar.gz", "x", ""}) {
    INFO(name);
    int claims = 0;
    for (const auto* format : data::format_table())
      claims += format->is_name_of != nullptr && format->is_name_of(name) ? 1 : 0;
    CHECK(claims <= 1);
  }
}
