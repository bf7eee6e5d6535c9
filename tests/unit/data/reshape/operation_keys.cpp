// Tests of the keys of [data.NAME] that make new samples from its samples: explode, sequence, pack, subset_after,
// draw_by_weight.
#include <trainrt/error.hpp>

#include "core/process/memory.hpp"
#include "data/section/prepare.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

using Sections = std::map<std::string, std::map<std::string, std::string>>;

/// The sections of one config, read as a run reads them.
class Config {
 public:
  explicit Config(const Sections& sections) {
    for (const auto& [name, keys] : sections) sections_[name] = options(keys);
    for (const auto& [name, keys] : sections_) listings_.emplace(name, data::list_dataset(name, keys));
    data::require_steps(sections_, listings_);
  }
  std::shared_ptr<DatasetImpl> open(const std::string& name) const {
    auto dataset = data::open_dataset(name, sections_.at(name), listings_.at(name), {}, 1);
    data::prepare(*dataset, sections_.at(name), listings_.at(name));
    return dataset;
  }

 private:
  std::map<std::string, Options> sections_;
  std::map<std::string, data::Listing> listings_;
};

std::vector<std::int64_t> whole_field(const std::shared_ptr<DatasetImpl>& dataset, const std::string& field) {
  std::vector<std::int64_t> seen;
  for (const auto& batch : Dataset(dataset).epoch(0).batches(5, Remainder::uneven)) {
    const auto values = batch.field(field);
    const auto* const numbers = static_cast<const std::int64_t*>(values.data);
    seen.insert(seen.end(), numbers, numbers + element_count(values.shape));
  }
  return seen;
}

void refused(const Sections& sections, const std::vector<std::string>& words) {
  std::string said;
  try {
    Config(sections).open("train");
  } catch (const UsageError& error) {
    said = error.what();
  }
  for (const auto& word : words) CHECK_THAT(said, Contains(word));
}

}  // namespace

TEST_CASE("keys that make samples are applied in their documented order, whatever the order in the section") {
  const Scratch dir;
  write(dir / "visits.jsonl",
        "{\"user\":1,\"pages\":[10,11,12]}\n{\"user\":2,\"pages\":[20]}\n{\"user\":3,\"pages\":[]}\n{\"user\":1,\"pages\":["
        "13]}\n");
  const Sections sections{{"train",
                           {{"source", dir / "visits.jsonl"},
                            {"types", "pages:i64"},
                            {"sequence", "2 within=user pad"},
                            {"subset_after", "1:3, 0"},
                            {"explode", "pages"}}}};
  const auto dataset = Config(sections).open("train");
  CHECK(data::in_words(dataset->source()->fields()) == "user i64[], pages i64[2], count i32[]");
  CHECK(whole_field(dataset, "pages") == std::vector<std::int64_t>{11, 12, 12, 13, 10, 11});
}

TEST_CASE("a preprocessor sees the samples after explode, and sequences are made of its results") {
  const Scratch dir;
  write(dir / "rows.jsonl", "{\"id\":1,\"x\":[0,2]}\n{\"id\":2,\"x\":[4]}\n");
  const auto dataset = Config({{"train",
                                {{"source", dir / "rows.jsonl"},
                                 {"types", "x:f64"},
                                 {"explode", "x"},
                                 {"preprocess", "MinMaxScaler(columns: id, x)"},
                                 {"sequence", "2"}}}})
                           .open("train");
  CHECK(Dataset(dataset).size() == 2);
  CHECK(gathered<double>(*dataset, 1, {0, 1}) == std::vector<double>{0, 0.5, 0.5, 1});
  CHECK(gathered<double>(*dataset, 0, {1}) == std::vector<double>{0, 1});
}

TEST_CASE("the keys pack and draw_by_weight act like the calls, and random changes come after them") {
  const Scratch dir;
  write(dir / "documents.jsonl", "{\"t\":[1,2,3]}\n{\"t\":[4]}\n");
  const auto packed =
      Config({{"train", {{"source", dir / "documents.jsonl"}, {"types", "t:i64"}, {"pack", "t 2 separator=0"}}}});
  CHECK(whole_field(packed.open("train"), "t") == std::vector<std::int64_t>{1, 2, 3, 0, 4, 0});
  const auto otherwise =
      Config({{"train", {{"source", dir / "documents.jsonl"}, {"types", "t:i64"}, {"pack", "t 2 separator=9"}}}});
  CHECK(packed.open("train")->plan().steps_text() !=
        otherwise.open("train")->plan().steps_text());  // different, because a position in an epoch depends on this key
  write(dir / "w.csv", "n,w\n1,0\n2,1\n3,0\n");
  const auto drawn = Config({{"train", {{"source", dir / "w.csv"}, {"draw_by_weight", "w"}}}});
  CHECK(whole_field(drawn.open("train"), "n") == std::vector<std::int64_t>{2, 2, 2});
  const auto noisy =
      Config({{"train", {{"source", dir / "w.csv"}, {"types", "n:f32"}, {"sequence", "3"}, {"random_noise", "n: 0.1"}}}})
          .open("train");
  CHECK(data::in_words(Dataset(noisy).fields()) == "n f32[3], w i64[3]");
}

TEST_CASE("where keeps the samples that meet a condition, before all other keys that make samples") {
  const Scratch dir;
  write(dir / "visits.jsonl",
        "{\"user\":1,\"pages\":[10,11,12]}\n{\"user\":2,\"pages\":[20]}\n{\"user\":3,\"pages\":[30]}\n");
  const std::map<std::string, std::string> keys{{"source", dir / "visits.jsonl"}, {"types", "pages:i64"}};
  const auto with = [&](std::map<std::string, std::string> more) {
    more.insert(keys.begin(), keys.end());
    return Sections{{"train", std::move(more)}};
  };
  CHECK(whole_field(Config(with({{"where", "user != 2"}, {"explode", "pages"}})).open("train"), "pages") ==
        std::vector<std::int64_t>{10, 11, 12, 30});
  CHECK(whole_field(Config(with({{"where", "user >= 2"}, {"subset_after", "1"}})).open("train"), "user") ==
        std::vector<std::int64_t>{3});
  const auto one = Config(with({{"where", "user > 1"}})).open("train"),
             other = Config(with({{"where", "user < 3"}})).open("train");
  // The texts must differ, because a position in an epoch is valid only with the same value of `where`.
  CHECK(one->plan().steps_text() != other->plan().steps_text());
  refused(with({{"where", "user >"}}), {"[data.train]", "where", "at character 7"});
  refused(with({{"where", "user > 1 and usr < 3"}}), {"where", "at character 14", "no field 'usr'", "user, pages"});
  refused(with({{"where", "pages > 1"}}), {"where", "lists of numbers that vary in length"});
  refused(with({{"where", "user > 5"}}), {"where", "removes all 3 samples"});
}

TEST_CASE("invalid keys that make samples are errors with section, key and cause") {
  const Scratch dir;
  write(dir / "a.csv", "id,x,name\n1,0.5,al\n2,1.5,bo\n");
  const auto one = [&](const std::string& key, const std::string& text) {
    return Sections{{"train", {{"source", dir / "a.csv"}, {key, text}}}};
  };
  refused(one("explode", "x"), {"[data.train]", "train.ini:7", "explode", "'x'", "one value"});
  refused(one("explode", "name"), {"texts"});
  refused(one("pack", "x 4"), {"[data.train]", "pack", "'x'"});
  refused(one("pack", "name"), {"pack", "a word is missing", "FIELD LENGTH [separator=VALUE]"});
  refused(one("pack", "name 4 separator=300"), {"300", "u8"});
  refused(one("sequence", "2"), {"sequence", "'name' varies"});
  refused(one("sequence", "2 steps=3"), {"'steps=3' is unknown", "LENGTH [stride=N]"});
  refused(one("sequence", "none"), {"'none' is not an integer"});
  const auto large = std::to_string((1U << 31) - 1);
  write(dir / "wide.csv", "a,b,c,d,e,f,g,h\n1,2,3,4,5,6,7,8\n");
  auto wide = one("sequence", large + " pad");
  wide["train"]["source"] = dir / "wide.csv";
  const std::uint64_t its_bytes = std::uint64_t{8} * sizeof(std::int64_t) << 31;
  if (available_memory() < its_bytes) refused(wide, {"sequence", "a window of " + large + " samples", "GiB"});
  refused(one("draw_by_weight", "name"), {"draw_by_weight", "'name'"});
  refused(one("draw_by_weight", "w"), {"no field 'w'"});
  refused(one("subset_after", "1:5"), {"subset_after", "sample 4", "there are 2"});
  auto mixed = one("sequence", "2");
  mixed["train"]["source"] = (dir / "a.csv") + ", " + (dir / "a.csv");
  mixed["train"]["weights"] = "0.5, 0.5";
  mixed["train"]["shuffle"] = "true";
  refused(mixed, {"weights and sequence cannot be combined"});
}

TEST_CASE("a removed key is an error that names its replacement, before any file is read") {
  const auto message =
      "train.ini:7: the key 'join' in [data.train] was removed. Join the tables before the run, with DuckDB or pandas, and "
      "use the joined file as source";
  CHECK_THROWS_WITH(data::check_options("train", options({{"source", "/none.csv"}, {"join", "users on id"}})),
                    Contains(message));
  CHECK_THROWS_WITH(data::list_dataset("train", options({{"format", "range"}, {"samples", "3"}, {"join", "users on id"}})),
                    Contains(message));
}

TEST_CASE("every keeps each K-th sample, of mixed sources as well, and a position is valid only for the same K") {
  const Scratch dir;
  write(dir / "a.csv", "n\n0\n1\n2\n3\n4\n5\n6\n");
  write(dir / "b.csv", "n\n10\n11\n12\n13\n14\n");
  const auto every = [&](const std::string& k) { return Config({{"train", {{"source", dir / "a.csv"}, {"every", k}}}}); };
  const auto thirds = every("3").open("train");
  CHECK(whole_field(thirds, "n") == std::vector<std::int64_t>{0, 3, 6});
  CHECK(whole_field(every("1").open("train"), "n") == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6});
  CHECK(whole_field(every("8").open("train"), "n") == std::vector<std::int64_t>{0});
  const auto mixed = Config({{"train",
                              {{"source", (dir / "a.csv") + ", " + (dir / "b.csv")},
                               {"weights", "0.5, 0.5"},
                               {"shuffle", "true"},
                               {"every", "2"}}}})
                         .open("train");
  CHECK(Dataset(mixed).size() == 6);  // 0, 2, 4, 6, 11, 13
  const auto seen = whole_field(mixed, "n");
  CHECK(std::ranges::count_if(seen, [](auto n) { return n >= 10; }) == 3);
  const auto again = every("3").open("train"), other = every("2").open("train");
  for (const auto& dataset : {again, other}) dataset->walk().restore({true, 0, 1}, thirds->plan().steps_text());
  CHECK(whole_field(again, "n") == std::vector<std::int64_t>{3, 6});
  CHECK_THROWS_WITH(whole_field(other, "n"), Contains("every 2") && Contains("every 3"));
  const Sections zero{{"train", {{"source", dir / "a.csv"}, {"every", "0"}}}};
  refused(zero, {"every", "'0' is not an integer of 1 or more"});
}
