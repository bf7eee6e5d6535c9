// Tests of operations that make new samples from a dataset's samples: flat_map, pack, draw_by_weight.
#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/source/source.hpp"
#include "data/text/field_specs.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

template <class T>
std::vector<T> walked(const std::shared_ptr<DatasetImpl>& dataset, const std::string& field, std::int64_t epoch = 0) {
  std::vector<T> seen;
  for (const auto& batch : Dataset(dataset).epoch(epoch).batches(5, Remainder::uneven)) {
    const auto values = batch.field(field);
    const auto* const numbers = static_cast<const T*>(values.data);
    seen.insert(seen.end(), numbers, numbers + element_count(values.shape));
  }
  return seen;
}

/// Opens a CSV table with `rows` rows. Column n has the numbers 0, 1, ..., and column square has their squares.
std::shared_ptr<DatasetImpl> table(const Scratch& dir, int rows, std::map<std::string, std::string> more = {}) {
  std::string text = "n,square\n";
  for (int n = 0; n < rows; ++n) text += std::to_string(n) + "," + std::to_string(n * n) + "\n";
  write(dir / "table.csv", text);
  more["source"] = dir / "table.csv";
  return data_test::open(more);
}

void several(const TensorView& values, std::vector<std::byte>& made) {
  const auto n = *static_cast<const std::int64_t*>(values.data);
  for (std::int64_t k = 0; k < n % 3; ++k) {
    const auto value = n * 10 + k;
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    made.insert(made.end(), bytes, bytes + sizeof value);
  }
}

std::string documents(const Scratch& dir) {
  write(dir / "documents.jsonl", "{\"t\":[1,2,3]}\n{\"t\":[]}\n{\"t\":[4]}\n{\"t\":[5,6,7,8,9]}\n");
  return dir / "documents.jsonl";
}

}  // namespace

TEST_CASE("flat_map makes any number of samples of each, repeats the other fields, and can be read in any order") {
  const Scratch dir;
  std::vector<std::int64_t> numbers, squares;
  for (std::int64_t n = 0; n < 40; ++n)
    for (std::int64_t k = 0; k < n % 3; ++k) {
      numbers.push_back(n * 10 + k);
      squares.push_back(n * n);
    }
  const auto plain = table(dir, 40);
  Dataset(plain).flat_map("n", {"", DType::i64, {}}, several);
  CHECK(Dataset(plain).size() == numbers.size());
  CHECK(walked<std::int64_t>(plain, "n") == numbers);
  CHECK(walked<std::int64_t>(plain, "square") == squares);
  CHECK(gathered<std::int64_t>(*plain, 0, {7, 0, 8, 8}) ==
        std::vector<std::int64_t>{numbers[7], numbers[0], numbers[8], numbers[8]});
  const auto shuffled = table(dir, 40, {{"shuffle", "true"}});
  Dataset(shuffled).flat_map("n", {"", DType::i64, {}}, several);
  auto seen = walked<std::int64_t>(shuffled, "n");
  CHECK(seen != numbers);
  std::ranges::sort(seen);
  CHECK(seen == numbers);
}

TEST_CASE("a sample that becomes many samples is read once for all of them") {
  /// Counts the samples that are read.
  struct Counted final : data::Source {
    explicit Counted(std::shared_ptr<const data::Source> of) : source(std::move(of)) {}
    std::uint64_t size() const override { return source->size(); }
    const std::vector<Dataset::Field>& fields() const override { return source->fields(); }
    void read(std::span<const std::uint64_t> samples, std::span<data::Column> columns) const override {
      read_in_all += samples.size();
      source->read(samples, columns);
    }
    std::shared_ptr<const data::Source> source;
    mutable std::size_t read_in_all = 0;
  };
  const Scratch dir;
  std::string text;
  for (int n = 0; n < 3; ++n) {
    text += fmt::format("{{\"n\":{},\"l\":[7{}],\"v\":[0", n, n == 1 ? "" : ",8");
    for (int k = 1; k < 500; ++k) text += fmt::format(",{}", n * 1000 + k);
    text += "]}\n";
  }
  write(dir / "lists.jsonl", text);
  const auto plain = data_test::open({{"source", dir / "lists.jsonl"}});
  const auto counted = std::make_shared<Counted>(plain->source());
  set_source(*plain, counted);
  const auto each = [](const TensorView& values, std::vector<std::byte>& made) {
    const auto* const bytes = static_cast<const std::byte*>(values.data);
    made.assign(bytes, bytes + element_count(values.shape) * size_of(values.dtype));
  };
  const auto field = [&](std::string_view name) { return data::find_field(plain->source()->fields(), name); };
  const auto dtype = plain->source()->fields()[field("v")].dtype;
  Dataset(plain).flat_map("v", {"", dtype, {}}, each);
  counted->read_in_all = 0;
  std::vector<std::uint64_t> samples;
  for (std::uint64_t at = 1500; at > 0; at -= 3) samples.push_back(at - 1);
  std::vector<data::Column> columns(3);
  for (std::size_t i = 0; i < 3; ++i) columns[i].field = i;
  plain->source()->read(samples, columns);
  CHECK(counted->read_in_all == 3);
  const auto numbers = [](const data::Column& column) {
    std::vector<std::int64_t> values(column.values.size() / sizeof(std::int64_t));
    std::memcpy(values.data(), column.values.data(), column.values.size());
    return values;
  };
  const auto n = numbers(columns[field("n")]), l = numbers(columns[field("l")]), v = numbers(columns[field("v")]);
  const auto& ends = columns[field("l")].ends;
  REQUIRE((n.size() == 500 && ends.size() == 500 && v.size() == 500));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto of = static_cast<std::int64_t>(samples[i] / 500), at = static_cast<std::int64_t>(samples[i] % 500);
    REQUIRE(n[i] == of);
    const auto end = ends[i] / sizeof(std::int64_t), count = end - (i == 0 ? 0 : ends[i - 1] / sizeof(std::int64_t));
    REQUIRE(count == (of == 1 ? 1 : 2));
    REQUIRE(l[end - 1] == (of == 1 ? 7 : 8));
    REQUIRE(v[i] == (at == 0 ? 0 : of * 1000 + at));
  }
}

TEST_CASE("a flat_map that makes parts of samples, no samples, or another number later is an error with the cause") {
  const Scratch dir;
  const auto make = [&](const Dataset::FlatFunction& function) {
    Dataset(table(dir, 4)).flat_map("n", {"", DType::i64, {}}, function);
  };
  CHECK_THROWS_WITH(make([](const TensorView&, std::vector<std::byte>& made) { made.resize(3); }),
                    Contains("3 bytes") && Contains("8 bytes of a sample"));
  CHECK_THROWS_WITH(make([](const TensorView&, std::vector<std::byte>&) {}), Contains("could be made from any of the 4"));
  CHECK_THROWS_WITH(Dataset(table(dir, 4)).flat_map("m", {"", DType::i64, {}}, several),
                    Contains("'m'") && Contains("square"));
  const auto dataset = table(dir, 4);
  auto calls = std::make_shared<int>(0);
  Dataset(dataset).flat_map("n", {"", DType::i64, {}}, [calls](const TensorView&, std::vector<std::byte>& made) {
    made.resize(++*calls <= 4 ? 8 : 16);
  });
  CHECK_THROWS_WITH(walked<std::int64_t>(dataset, "n"), Contains("the number of samples that the function returns"));
}

TEST_CASE("pack concatenates documents and cuts them into samples of one length") {
  const Scratch dir;
  const auto without = data_test::open({{"source", documents(dir)}, {"types", "t:i32"}});
  Dataset(without).pack("t", 4);
  CHECK((Dataset(without).size() == 2 && Dataset(without).fields()[0].sample_shape == Shape{4}));
  CHECK(walked<std::int32_t>(without, "t") == std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7, 8});
  const auto with = data_test::open({{"source", documents(dir)}, {"types", "t:i32"}});
  Dataset(with).pack("t", 3, 0);
  CHECK(walked<std::int32_t>(with, "t") == std::vector<std::int32_t>{1, 2, 3, 0, 0, 4, 0, 5, 6, 7, 8, 9});
  CHECK(gathered<std::int32_t>(*with, 0, {3, 1}) == std::vector<std::int32_t>{7, 8, 9, 0, 0, 4});
  const auto few = data_test::open({{"source", documents(dir)}, {"types", "t:i32"}});
  CHECK_THROWS_WITH(Dataset(few).pack("t", 10), Contains("10 values") && Contains("only 9 values"));
  CHECK_THROWS_WITH(Dataset(table(dir, 3)).pack("n", 2), Contains("'n'") && Contains("same"));
}

TEST_CASE("pack skips a document that cannot be read, and no values of other documents") {
  const Scratch dir;
  write(dir / "documents.jsonl", "{\"t\":[1,2,3]}\n{\"t\":[1,\"x\"]}\n{\"t\":[4]}\n{\"t\":[\"y\"]}\n{\"t\":[5,6,7,8]}\n");
  for (const std::string threads : {"1", "4"}) {
    const auto dataset = data_test::open(
        {{"source", dir / "documents.jsonl"}, {"types", "t:i64"}, {"on_error", "skip"}, {"threads", threads}});
    Dataset(dataset).pack("t", 8);
    CHECK(walked<std::int64_t>(dataset, "t") == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(dataset->plan().skipping->skipped() == 2);
  }
}

TEST_CASE("a position inside an epoch continues after the same steps, and is refused after others") {
  const Scratch dir;
  using Operation = std::function<void(Dataset)>;
  const Operation operations[] = {[](Dataset dataset) {
                                    dataset.flat_map("n", {"", DType::i64, {}}, several);
                                  },
                                  [](Dataset dataset) { dataset.draw_by_weight("n"); }};
  for (const auto& operation : operations) {
    const auto first = table(dir, 6);
    operation(Dataset(first));
    const auto whole = walked<std::int64_t>(first, "n");
    const auto again = [&] {
      auto dataset = table(dir, 6);
      dataset->walk().restore({true, 0, 3},
                              first->plan().steps_text());  // a checkpoint is restored before the operation
      return dataset;
    };
    const auto same = again();
    CHECK(same->plan().files_text == first->plan().files_text);
    operation(Dataset(same));
    CHECK(walked<std::int64_t>(same, "n") == std::vector(whole.begin() + 3, whole.end()));
    CHECK_THROWS_WITH(walked<std::int64_t>(again(), "n"), Contains("all samples") && Contains("at the checkpoint"));
  }
}

TEST_CASE("samples are drawn in proportion to their weights, new ones in each epoch, and the same ones after a restart") {
  const Scratch dir;
  write(dir / "w.csv", [] {
    std::string text = "n,w\n";
    for (int n = 0; n < 3000; ++n)
      text += std::to_string(n % 3) + "," + std::to_string(n % 3 == 2 ? 3.0 : n % 3 == 1 ? 1.0 : 0.0) + "\n";
    return text;
  }());
  const auto make = [&] {
    auto dataset = data_test::open({{"source", dir / "w.csv"}});
    Dataset(dataset).draw_by_weight("w");
    return dataset;
  };
  const auto dataset = make();
  const auto seen = walked<std::int64_t>(dataset, "n");
  REQUIRE(seen.size() == 3000);
  CHECK(std::ranges::count(seen, 0) == 0);
  CHECK(std::ranges::count(seen, 2) > 2150);  // 2250 are expected, with a deviation of 24
  CHECK(std::ranges::count(seen, 2) < 2350);
  CHECK(walked<std::int64_t>(make(), "n") == seen);
  CHECK(walked<std::int64_t>(dataset, "n", 1) != seen);
  Dataset(dataset).filter("n", [](const TensorView& values) { return *static_cast<const std::int64_t*>(values.data) < 2; });
  const auto left = walked<std::int64_t>(dataset, "n", 2);
  CHECK((left.size() == 2000 && std::ranges::count(left, 1) == 2000));
}

TEST_CASE("invalid weights are errors that name their field") {
  const Scratch dir;
  const auto weighed = [&](const std::string& rows) {
    write(dir / "w.csv", "n,w\n" + rows);
    Dataset(data_test::open({{"source", dir / "w.csv"}})).draw_by_weight("w");
  };
  CHECK_THROWS_WITH(weighed("1,0.5\n2,-1\n"), Contains("'w'") && Contains("-1"));
  CHECK_THROWS_WITH(weighed("1,0.5\n2,\n"), Contains("nan"));
  CHECK_THROWS_WITH(weighed("1,0\n2,0\n"), Contains("add up to 0"));
  CHECK_THROWS_WITH(weighed("1,a\n2,b\n"), Contains("cannot be used as weights"));
}

TEST_CASE("steps that cannot be combined are an error that names both, and leave the dataset as it was") {
  const Scratch dir;
  const auto drawn = table(dir, 6);
  Dataset(drawn).draw_by_weight("n");
  const auto before = drawn->plan().steps_text();
  CHECK_THROWS_WITH(Dataset(drawn).window({.length = 2}),
                    Contains("window cannot follow draw_by_weight") && Contains("'n'"));
  CHECK(drawn->plan().steps_text() == before);
  CHECK(Dataset(drawn).size() == 6);
  const auto source = (dir / "table.csv") + ", " + (dir / "table.csv");
  const auto mixed = data_test::open({{"source", source}, {"weights", "0.5, 0.5"}, {"shuffle", "true"}});
  CHECK_THROWS_WITH(Dataset(mixed).flat_map("n", {"", DType::i64, {}}, several),
                    Contains("flat_map cannot be combined with the key 'weights'"));
  CHECK_THROWS_WITH(Dataset(mixed).draw_by_weight("n"),
                    Contains("draw_by_weight cannot be combined with the key 'weights'"));
}

TEST_CASE("a range of batches has the samples that the dataset had when it was made") {
  const Scratch dir;
  const auto dataset = table(dir, 6);
  auto batches = Dataset(dataset).epoch(0).batches(6);
  Dataset(dataset).filter("n", [](const TensorView& values) { return *static_cast<const std::int64_t*>(values.data) > 3; });
  CHECK(walked<std::int64_t>(dataset, "n") == std::vector<std::int64_t>{4, 5});
  for (const auto& batch : batches) CHECK(batch.size() == 6);
}
