// Checks the contract of every transform and every augmentation (transform_table(), augmentation_table()). They are the
// keys of [data.NAME] that change a field.
#include <cmath>
#include <cstring>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "data/transform/transform.hpp"
#include "support/cpp/error_of.hpp"
#include "unit/data/npy_bytes.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Matchers::Contains;
using trainrt::test::error_of;

namespace {

/// Valid arguments of a key for images of 7 x 6 pixels, and invalid arguments, the last of which the error message must
/// contain. A new transform or augmentation needs one row.
struct Row {
  std::string name, arguments, invalid;
  bool needs_floats = false;
};
const Row rows[] = {{"cast", "i32", "int"},
                    {"color_jitter", "0.4 0.4 0.4 0.1", "0.4 0.4 -1"},
                    {"crop", "5x3", "5x0"},
                    {"normalize", "0.5 0.25", "0.5 zero"},
                    {"normalize_last", "0.5 0.25", "0.5 zero"},
                    {"one_hot", "256", "0"},
                    {"random_crop", "1", "0.5"},
                    {"random_erasing", "0.5", "2"},
                    {"random_flip", "horizontal", "sideways"},
                    {"random_noise", "0.5", "-1", true},
                    {"random_resized_crop", "5x3 0.3 0.8", "5x3 0.8 0.3"},
                    {"resize", "5x3", "0x3"}};

using Keys = std::map<std::string, std::string>;
using Samples = std::map<std::uint64_t, std::vector<std::byte>>;
constexpr std::size_t count = 20;

/// Writes an array as a dataset with the field `image`, and returns its keys.
Keys write_images(const Scratch& dir, const std::string& type, const std::string& shape, const std::string& bytes) {
  write(dir / "x.npy", npy_bytes("{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + ")}", bytes));
  return {{"source", dir / "x.npy"}, {"field", "image"}};
}

/// Returns the keys of a dataset of `images` images of 7 x 6 pixels and 3 channels, with the change of `row`.
Keys keys_of(const Scratch& dir, const Row& row, std::size_t images = count) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < images * 126; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 37 % 251));
  auto keys = write_images(dir, "|u1", std::to_string(images) + ", 7, 6, 3", values_of(bytes));
  if (row.needs_floats) keys["cast"] = "image: f32";
  keys[row.name] = "image: " + row.arguments;
  return keys;
}

void add_batch(Samples& samples, const Batch& batch) {
  const auto values = batch.field("image");
  const auto* const bytes = static_cast<const std::byte*>(values.data);
  const auto each = values.bytes() / batch.size();
  for (std::size_t i = 0; i < batch.size(); ++i) samples[batch.indices()[i]] = {bytes + i * each, bytes + (i + 1) * each};
}

/// Returns the values of all samples of an epoch, by sample.
Samples walk(const std::shared_ptr<DatasetImpl>& dataset, std::size_t batch_size, std::int64_t epoch = 3) {
  Samples samples;
  for (const auto& batch : Dataset(dataset).epoch(epoch).batches(batch_size, Remainder::uneven)) add_batch(samples, batch);
  return samples;
}

/// Stops a dataset after `batches` batches. Returns the samples of another dataset that resumes there, as in a restarted
/// process.
Samples walk_resumed(const Keys& keys, std::size_t batch_size, std::size_t batches) {
  const auto stopped = open(keys);
  std::size_t done = 0;
  auto cursor = stopped->walk().cursor();
  for ([[maybe_unused]] const auto& batch : Dataset(stopped).epoch(3).batches(batch_size, Remainder::uneven))
    if (++done == batches) {
      cursor = stopped->walk().cursor();
      break;
    }
  const auto resumed = open(keys);
  resumed->walk().restore(cursor, resumed->plan().steps_text());
  return walk(resumed, batch_size);
}

/// Checks that a call either succeeds or fails with a message that names the key and the field.
template <class Call>
void works_or_names(const Row& row, const Call& call) try {
  call();
  SUCCEED();
} catch (const UsageError& error) {
  CHECK_THAT(error.what(), Contains(row.name) && Contains("image"));
}

}  // namespace

TEST_CASE("every transform and augmentation is checked by this file") {
  std::vector<std::string> names;
  for (const auto* transform : data::transform_table()) names.emplace_back(transform->name);
  for (const auto* augmentation : data::augmentation_table()) names.emplace_back(augmentation->name);
  std::ranges::sort(names);
  std::vector<std::string> checked;
  for (const auto& row : rows) checked.push_back(row.name);
  CHECK(names == checked);  // a new transform or augmentation needs a row
}

TEST_CASE("invalid arguments of a field change are an error that names key, field and value") {
  const Scratch dir;
  for (auto row : rows) {
    INFO(row.name);
    row.arguments = row.invalid;
    const auto value = row.invalid.substr(row.invalid.rfind(' ') + 1);
    CHECK_THROWS_AS(open(keys_of(dir, row)), UsageError);
    CHECK_THROWS_WITH(open(keys_of(dir, row)),
                      Contains("train.ini:7: [data.train]: " + row.name) && Contains("image") && Contains(value + "'"));
    row.arguments = "";
    CHECK_THROWS_WITH(open(keys_of(dir, row)), Contains("train.ini:7: [data.train]: " + row.name) && Contains("image"));
  }
}

TEST_CASE("an unknown field of a field change is an error that lists the valid fields") {
  const Scratch dir;
  for (const auto& row : rows) {
    INFO(row.name);
    auto keys = keys_of(dir, row);
    keys[row.name] = "picture: " + row.arguments;
    CHECK_THROWS_WITH(open(keys),
                      Contains("train.ini:7: [data.train]: " + row.name) && Contains("'picture'") && Contains("image"));
    keys[row.name] = row.arguments;
    CHECK_THROWS_WITH(open(keys), Contains("train.ini:7: [data.train]: " + row.name) && Contains("FIELD: "));
  }
}

TEST_CASE("a field change refuses a field that varies in length, and names it") {
  const Scratch dir;
  write(dir / "x.txt", "one\nthree\n");
  for (const auto& row : rows) {
    INFO(row.name);
    CHECK_THROWS_WITH(open({{"source", dir / "x.txt"}, {row.name, "text: " + row.arguments}}),
                      Contains(row.name) && Contains("text") && Contains("varies in length"));
  }
}

TEST_CASE("a field change works for any type and shape, or names the key and the field") {
  const Scratch dir;
  const std::map<std::string, std::size_t> values_of_shape{{"3,", 3},         {"3, 60", 180},      {"3, 1, 1", 3},
                                                           {"3, 1, 1, 1", 3}, {"3, 7, 6, 3", 378}, {"3, 2, 5, 3, 2", 180}};
  for (const auto& row : rows)
    for (const std::string type : {"<f2", "<f4", "<f8", "<i8", "|b1", "|u1"})
      for (const auto& [shape, values] : values_of_shape) {
        CAPTURE(row.name, type, shape);
        auto keys = write_images(dir, type, shape, std::string(values * static_cast<std::size_t>(type[2] - '0'), '\0'));
        keys[row.name] = "image: " + row.arguments;
        works_or_names(row, [&] { walk(open(keys), 2); });
      }
}

TEST_CASE("a field change of no samples is empty, and that of one sample equals that of many") {
  const Scratch dir;
  for (const auto& row : rows) {
    INFO(row.name);
    const auto dataset = open(keys_of(dir, row));
    data::Column column{0, {}, {}};
    dataset->source()->read({}, {&column, 1});
    CHECK(column.values.empty());
    if (dataset->plan().maps) dataset->plan().maps->apply(1, {}, column);
    CHECK(column.values.empty());
    const Scratch alone;
    CHECK(walk(open(keys_of(alone, row, 1)), 1).at(0) == walk(dataset, count).at(0));
  }
}

TEST_CASE("the result of a field change depends on the epoch and the sample, not on batches, threads or order") {
  const Scratch dir;
  for (const auto& row : rows) {
    INFO(row.name);
    const auto keys = keys_of(dir, row);
    const auto expected = walk(open(keys), count);
    REQUIRE(expected.size() == count);
    for (const std::size_t batch_size : {1, 3, 7}) CHECK(walk(open(keys), batch_size) == expected);
    auto threaded = keys;
    threaded.insert({{"memory", "0 B"}, {"threads", "3"}, {"shuffle", "true"}});
    CHECK(walk(open(threaded), 2) == expected);
  }
}

TEST_CASE("a run that is stopped after any batch and resumed has the same random changes") {
  const Scratch dir;
  for (const auto& row : rows) {
    const auto keys = keys_of(dir, row);
    const auto expected = walk(open(keys), count);
    for (std::size_t batches = 1; batches * 3 < count; ++batches) {
      CAPTURE(row.name, batches);
      const auto resumed = walk_resumed(keys, 3, batches);
      CHECK(resumed.size() == count - 3 * batches);
      for (const auto& [sample, values] : resumed) CHECK(values == expected.at(sample));
    }
  }
}

TEST_CASE("a field change of NaN has the same result each time, or names the field and the value") {
  const Scratch dir;
  std::vector<float> values(count * 126, 0.5F);
  for (std::size_t i = 0; i < values.size(); i += 7) values[i] = std::nanf("");
  for (const auto& row : rows) {
    INFO(row.name);
    auto keys = write_images(dir, "<f4", std::to_string(count) + ", 7, 6, 3", values_of(values));
    keys[row.name] = "image: " + row.arguments;
    if (row.name == "one_hot") continue;  // one_hot refuses f32
    const auto error = error_of([&] { walk(open(keys), 4); });
    if (error.empty())
      CHECK(walk(open(keys), 4) == walk(open(keys), 7));
    else
      CHECK_THAT(error, Contains("image") && Contains("nan"));
  }
}
