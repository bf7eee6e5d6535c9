#include "data/section/open_dataset.hpp"

#include <trainrt/error.hpp>

#include "data/section/dataset_options.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

TEST_CASE("the keys of a [data.NAME] section are checked, and errors name it and the line") {
  const auto section = Contains("[data.train]");
  CHECK_THROWS_WITH(open({{"format", "synthetic"}, {"sample", "4"}}),
                    section && Contains("train.ini:7") && Contains("'samples'"));
  CHECK_THROWS_WITH(open({{"format", "synthetic"}, {"shuffle", "maybe"}}), section && Contains("true or false"));
  CHECK_THROWS_WITH(open({{"format", "synthetik"}}),
                    section && Contains("train.ini:7") && Contains("did you mean 'synthetic'"));
  const Scratch scratch;
  const auto nameless = scratch / "x.what";
  write(nameless, "?");
  CHECK_THROWS_WITH(
      open({{"source", nameless}}),
      section && Contains("x.what'") && Contains("valid formats are " + join(names_of(data::format_table()))));
  CHECK_THROWS_WITH(open({{"samples", "4"}}), section && Contains("format") && Contains("missing"));
  CHECK_THROWS_WITH(open({{"format", "idx"}}), section && Contains("source"));
  CHECK_THROWS_AS(open({{"source", nameless}}), UsageError);
  CHECK_THROWS_WITH(open({{"format", "synthetic"}, {"source", "x"}}), section && Contains("has no files"));
}

TEST_CASE("a removed key is an error that names line, key, section and replacement") {
  const auto text = options({{"format", "synthetic"}, {"tokenize", "text: tokenizer.json 256"}});
  for (const auto* call : {"list", "check"}) {
    INFO(call);
    CHECK_THROWS_WITH(
        call == std::string("list") ? (void)data::list_dataset("train", text) : data::check_options("train", text),
        Contains("train.ini:7: the key 'tokenize' in [data.train] was removed. ") &&
            Contains("jobs/python/token_files.py") && Contains("format = tokens"));
  }
  for (const auto& row : data::removed_keys()) {
    INFO(row.key);
    for (const auto& spec : data::common_options()) CHECK(spec.key != row.key);
    CHECK_THROWS_WITH(open({{"format", "synthetic"}, {std::string(row.key), "x"}}), Contains(std::string(row.advice)));
  }
}

TEST_CASE("shuffle is off by default, and the dataset knows its seed and shard") {
  CHECK_FALSE(open({{"format", "synthetic"}})->plan().order.shuffle);
  const auto section = options({{"format", "synthetic"}, {"shuffle", "true"}});
  const auto dataset = data::open_dataset("eval", section, data::list_dataset("eval", section), {2, 3}, 99);
  CHECK(dataset->plan().order.shuffle);
  CHECK(dataset->plan().name == "eval");
  CHECK(dataset->plan().order.seed == 99);
  CHECK(dataset->plan().shard.rank == 2);
  CHECK(dataset->plan().shard.size == 3);
}
