#include "config/renamed_keys.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <string>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "config/run_spec.hpp"
#include "config/section.hpp"

using namespace trainrt;
using namespace trainrt::config;
using Catch::Matchers::Contains;

namespace {

constexpr std::array with_pattern{RenamedKey{"data.*.most_pixels", "data.*.max_pixels"}, RenamedKey{"run.old", "run.new"}};

std::string_view section_of(std::string_view key) { return key.substr(0, key.rfind('.')); }

}  // namespace

TEST_CASE("every renamed key of a declared section has an existing new name, and its old name is free") {
  const auto options = declared_options();
  const auto exists = [&](std::string_view key) {
    return std::ranges::find(options, key, [](const OptionSpec& option) { return std::string_view(option.key); }) !=
           options.end();
  };
  for (const auto& row : renamed_keys()) {
    INFO(row.old_name);
    CHECK(section_of(row.old_name) == section_of(row.new_name));
    if (row.old_name.find('*') != std::string_view::npos) continue;  // the keys of such sections are declared elsewhere
    CHECK(exists(row.new_name));
    CHECK_FALSE(exists(row.old_name));
  }
}

TEST_CASE("no new name was renamed, and no old name has two new names") {
  for (const auto& row : renamed_keys()) {
    INFO(row.old_name);
    CHECK_FALSE(new_name_of(row.new_name));
    CHECK(std::ranges::count(renamed_keys(), row.old_name, &RenamedKey::old_name) == 1);
  }
}

TEST_CASE("a pattern renames the key in every section that it matches") {
  CHECK(new_name_of("data.train.most_pixels", with_pattern) == "data.train.max_pixels");
  CHECK(new_name_of("data.test-2.most_pixels", with_pattern) == "data.test-2.max_pixels");
  CHECK(new_name_of("run.old", with_pattern) == "run.new");
  for (const auto* key : {"data.train.max_pixels", "data.most_pixels", "data..most_pixels", "data.a.b.most_pixels",
                          "sink.train.most_pixels", "data.train.most_pixels.x", "run.older", "x.run.old", "most_pixels"}) {
    INFO(key);
    CHECK_FALSE(new_name_of(key, with_pattern));
  }
}

TEST_CASE("an old key is an error that names its line and its new name") {
  Options options;
  options.set("checkpoint.replicas", {"warn", "train.ini:7"});
  CHECK_THROWS_WITH(make_run_spec(options), Contains("train.ini:7: ") && Contains("checkpoint.replicas is now named") &&
                                                Contains("checkpoint.replica_check"));
  CHECK_THROWS_WITH(require_not_renamed(options, "; a hint"), Contains("; a hint"));
}

TEST_CASE("a recorded config gets the new names") {
  CHECK(with_new_names({{"checkpoint.replicas", "warn"}, {"run.name", "a"}}) ==
        std::map<std::string, std::string>{{"checkpoint.replica_check", "warn"}, {"run.name", "a"}});
}
