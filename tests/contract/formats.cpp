// Checks the contract of every data format in the table.
#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "data/section/open_dataset.hpp"
#include "data/source/format.hpp"

using namespace trainrt;
using Catch::Matchers::Contains;

namespace {

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

void check_source(const data::Source& source) {
  CHECK(source.size() > 0);
  CHECK_FALSE(source.fields().empty());
  for (std::size_t field = 0; field < source.fields().size(); ++field) {
    INFO(source.fields()[field].name);
    CHECK_FALSE(source.fields()[field].name.empty());
    data::Column once{field, {}, {}}, again{field, {}, {}};
    source.read(std::vector<std::uint64_t>{source.size() - 1}, {&once, 1});
    source.read(std::vector<std::uint64_t>{0, source.size() - 1}, {&again, 1});
    REQUIRE(again.values.size() >= once.values.size());
    CHECK(std::equal(once.values.rbegin(), once.values.rend(), again.values.rbegin()));
  }
}

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

TEST_CASE("every data format refuses a key that it does not have") {
  for (const auto* format : data::format_table()) {
    INFO(format->name);
    auto section = section_without(*format, "");
    section.set("no_such_key", {"1", "train.ini:9"});
    CHECK_THROWS_WITH(data::list_dataset("train", section), Contains("[data.train]") && Contains("no_such_key"));
  }
}

TEST_CASE("every data format finds out that its files are missing before a run starts, or gives samples") {
  for (const auto* format : data::format_table()) {
    INFO(format->name);
    const auto section = section_without(*format, "");
    if (format->has_files) {
      CHECK_THROWS_WITH(data::list_dataset("train", section), Contains("[data.train]") && Contains("/no/such/file"));
    } else {
      const auto dataset = data::open_dataset("train", section, data::list_dataset("train", section), {}, 1);
      check_source(*dataset->source());
    }
  }
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
