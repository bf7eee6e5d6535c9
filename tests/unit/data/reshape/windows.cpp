// Tests of windows of consecutive samples: Dataset::window(), and pack() over long documents.
#include <atomic>

#include <trainrt/error.hpp>

#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

using Numbers = std::vector<std::int64_t>;

Numbers fields_in_order(const std::shared_ptr<DatasetImpl>& dataset, const std::string& field, std::int64_t epoch = 0) {
  Numbers seen;
  for (const auto& batch : Dataset(dataset).epoch(epoch).batches(5, Remainder::uneven)) {
    const auto values = batch.field(field);
    const auto* const numbers = static_cast<const std::int64_t*>(values.data);
    seen.insert(seen.end(), numbers, numbers + element_count(values.shape));
  }
  return seen;
}

std::shared_ptr<DatasetImpl> opened(const std::map<std::string, std::string>& values, Shard shard = {}) {
  return data::open_dataset("train", options(values), data::list_dataset("train", options(values)), shard, 1);
}

/// Writes a table of measurements. Row t has the station stations[t], such as '7', the time t, and the value t * 10.
std::map<std::string, std::string> stations_table(const Scratch& dir, const std::string& stations,
                                                  std::map<std::string, std::string> more = {}) {
  std::string text = "station,t,x\n";
  for (std::size_t t = 0; t < stations.size(); ++t)
    text += std::string(1, stations[t]) + "," + std::to_string(t) + "," + std::to_string(t * 10) + "\n";
  write(dir / "table.csv", text);
  more["source"] = dir / "table.csv";
  return more;
}

/// Counts the reads of a source.
class CountedSource final : public data::Source {
 public:
  CountedSource(std::shared_ptr<const data::Source> source, std::atomic<std::uint64_t>& reads)
      : source_(std::move(source)), reads_(reads) {}
  std::uint64_t size() const override { return source_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return source_->fields(); }
  void read(std::span<const std::uint64_t> samples, std::span<data::Column> columns) const override {
    reads_ += samples.size();
    source_->read(samples, columns);
  }

 private:
  std::shared_ptr<const data::Source> source_;
  std::atomic<std::uint64_t>& reads_;
};

}  // namespace

TEST_CASE("a window has consecutive samples, the next one begins a stride later, and incomplete windows are left out") {
  const Scratch dir;
  const auto dataset = opened(stations_table(dir, "77777777"));
  Dataset(dataset).window({.length = 3, .stride = 2});
  CHECK(data::in_words(dataset->source()->fields()) == "station i64[3], t i64[3], x i64[3]");
  CHECK(fields_in_order(dataset, "t") == Numbers{0, 1, 2, 2, 3, 4, 4, 5, 6});
  CHECK(gathered<std::int64_t>(*dataset, 2, {2, 0, 2}) == Numbers{40, 50, 60, 0, 10, 20, 40, 50, 60});
}

TEST_CASE("padded windows have every sample, zeros after the last one, and a field with the number of real samples") {
  const Scratch dir;
  const auto padded = [&](const std::string& stations, std::uint64_t length, std::uint64_t stride) {
    const auto dataset = opened(stations_table(dir, stations));
    Dataset(dataset).window({.length = length, .stride = stride, .pad = true});
    std::vector<std::uint64_t> all(dataset->source()->size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return std::pair(gathered<std::int64_t>(*dataset, 1, all), gathered<std::int32_t>(*dataset, 3, all));
  };
  CHECK(padded("777777", 4, 3) == std::pair(Numbers{0, 1, 2, 3, 3, 4, 5, 0}, std::vector<std::int32_t>{4, 3}));
  CHECK(padded("77", 4, 1) == std::pair(Numbers{0, 1, 0, 0}, std::vector<std::int32_t>{2}));
  CHECK(padded("7777", 2, 2) == std::pair(Numbers{0, 1, 2, 3}, std::vector<std::int32_t>{2, 2}));
  CHECK(padded("7777", 2, 4) == std::pair(Numbers{0, 1}, std::vector<std::int32_t>{2}));  // no samples follow
}

TEST_CASE("all samples of a window are of one group, whether the samples of a group are consecutive or not") {
  const Scratch dir;
  const auto windows = [&](const std::string& stations) {
    const auto dataset = opened(stations_table(dir, stations));
    Dataset(dataset).window({.length = 2, .within = "station"});
    CHECK(data::in_words(dataset->source()->fields()) == "station i64[], t i64[2], x i64[2]");
    return std::pair(fields_in_order(dataset, "station"), fields_in_order(dataset, "t"));
  };
  CHECK(windows("777899") == std::pair(Numbers{7, 7, 9}, Numbers{0, 1, 1, 2, 4, 5}));
  CHECK(windows("798797") == std::pair(Numbers{7, 7, 9}, Numbers{0, 3, 3, 5, 1, 4}));
  write(dir / "words.csv", "name,t\nbo,0\nal,1\nbo,2\nal,3\nbo,4\n");
  const auto by_name = opened({{"source", dir / "words.csv"}});
  Dataset(by_name).window({.length = 2, .within = "name"});
  CHECK(fields_in_order(by_name, "t") == Numbers{0, 2, 2, 4, 1, 3});
  std::string names;
  for (const auto& batch : Dataset(by_name).epoch(0).batches(2, Remainder::uneven))
    for (std::size_t i = 0; i < batch.size(); ++i) names += batch.text("name", i);
  CHECK(names == "boboal");
}

TEST_CASE("windows continue from any position inside an epoch, and are the same on any number of ranks") {
  const Scratch dir;
  const auto keys = stations_table(dir, "7989798779878987978", {{"shuffle", "true"}});
  const auto made = [&](Shard shard) {
    auto dataset = opened(keys, shard);
    Dataset(dataset).window({.length = 3, .within = "station", .pad = true});
    return dataset;
  };
  const auto first = made({});
  const auto whole = fields_in_order(first, "t");
  const auto size = Dataset(first).size();
  for (std::uint64_t place = 1; place < size; ++place) {
    const auto again = made({});
    again->walk().restore({true, 0, static_cast<std::int64_t>(place)}, first->plan().steps_text());
    CHECK(fields_in_order(again, "t") == Numbers(whole.begin() + static_cast<std::ptrdiff_t>(3 * place), whole.end()));
  }
  for (const int ranks : {2, 3}) {
    std::map<std::uint64_t, Numbers> by_sample;
    std::uint64_t count = 0;
    for (int rank = 0; rank < ranks; ++rank)
      for (const auto& batch : Dataset(made({rank, ranks})).epoch(0).batches(2, Remainder::uneven)) {
        const auto* const values = static_cast<const std::int64_t*>(batch.field("t").data);
        for (std::size_t i = 0; i < batch.size(); ++i, ++count)
          by_sample[batch.indices()[i]] = Numbers(values + 3 * i, values + 3 * (i + 1));
      }
    CHECK(count == size);
    for (const auto& [sample, values] : by_sample) CHECK(values == gathered<std::int64_t>(*first, 1, {sample}));
  }
}

TEST_CASE("a sample with an unreadable group is in no window of other samples") {
  const Scratch dir;
  const auto dataset =
      opened(stations_table(dir, "779?97", {{"types", "station:i64"}, {"on_error", "skip"}, {"threads", "0"}}));
  Dataset(dataset).window({.length = 2, .within = "station"});
  CHECK(fields_in_order(dataset, "t") == Numbers{0, 1, 1, 5, 2, 4});
}

TEST_CASE("windows that cannot be made are errors that give the reason") {
  const Scratch dir;
  const auto refused = [&](const Dataset::Windows& windows, const std::string& why) {
    CHECK_THROWS_WITH(Dataset(opened(stations_table(dir, "7797"))).window(windows), Contains(why));
  };
  refused({.length = 0}, "windows of 0 samples");
  refused({.length = 2, .stride = 0}, "with stride 0");
  refused({.length = 5}, "no window of 5 consecutive samples exists in 4 samples");
  refused({.length = 4, .within = "station"}, "no window of 4 consecutive samples of one 'station'");
  refused({.length = 2, .within = "statoin"}, "'statoin' (did you mean 'station'?)");
  write(dir / "words.csv", "name,t,f\nbo,0,0.5\nal,1,1.5\n");
  const auto of_words = [&](const Dataset::Windows& windows) {
    Dataset(opened({{"source", dir / "words.csv"}})).window(windows);
  };
  CHECK_THROWS_WITH(of_words({.length = 2}), Contains("'name' varies in length"));
  CHECK_THROWS_WITH(of_words({.length = 2, .within = "f"}), Contains("'f'") && Contains("neither"));
}

TEST_CASE("consecutive packed samples read each document about once, however long it is") {
  const Scratch dir;
  std::string line = "{\"t\":[0";
  for (int i = 1; i < 4000; ++i) line += "," + std::to_string(i % 100);
  write(dir / "long.jsonl", line + "]}\n" + line + "]}\n" + "{\"t\":[1,2,3]}\n");
  std::atomic<std::uint64_t> reads = 0;
  const auto dataset = opened({{"source", dir / "long.jsonl"}, {"types", "t:i64"}, {"threads", "0"}});
  set_source(*dataset, std::make_shared<CountedSource>(dataset->source(), reads));
  Dataset(dataset).pack("t", 8, 0);
  REQUIRE(Dataset(dataset).size() == 1000);
  reads = 0;
  const auto packed = fields_in_order(dataset, "t");
  CHECK(reads <= 4);
  for (std::size_t i = 0; i < 4000; ++i) REQUIRE(packed[i] == static_cast<std::int64_t>(i % 100));
  CHECK((packed[4000] == 0 && packed[4001] == 0 && packed[4002] == 1));
}
