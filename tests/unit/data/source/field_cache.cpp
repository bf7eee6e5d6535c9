#include "data/source/field_cache.hpp"

#include <atomic>
#include <thread>

#include <trainrt/error.hpp>

#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

/// 100 samples of a label (u8), a weight (f32) and an image (1000 bytes); the first byte of each is the sample's number.
class Counting final : public data::Source {
 public:
  std::uint64_t size() const override { return 100; }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  void read(std::span<const std::uint64_t> samples, std::span<data::Column> columns) const override {
    if (fails-- > 0) throw Error("not now");
    for (auto& column : columns) {
      ++reads[column.field];
      const auto bytes = data::sample_bytes(fields_[column.field]);
      column.values.assign(samples.size() * bytes, std::byte{});
      for (std::size_t i = 0; i < samples.size(); ++i) column.values[i * bytes] = static_cast<std::byte>(samples[i]);
    }
  }
  mutable std::array<std::atomic<int>, 3> reads{};
  mutable std::atomic<int> fails = 0;

 private:
  std::vector<Dataset::Field> fields_{{"label", DType::u8, {}}, {"weight", DType::f32, {}}, {"image", DType::u8, {1000}}};
};

std::byte first_byte(const data::Source& source, std::size_t field, std::uint64_t sample) {
  data::Column column{field, {}, {}};
  const std::uint64_t samples[] = {99, sample};
  source.read(samples, {&column, 1});
  return column.values[column.values.size() / 2];
}

}  // namespace

TEST_CASE("small fields are read once by the first thread that needs them, and large fields for each batch") {
  const auto source = std::make_shared<Counting>();
  const data::FieldCache cache(source, 600);
  CHECK(cache.bytes() == 500);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (std::uint64_t sample = 0; sample < 100; ++sample)
        for (const std::size_t field : {0U, 1U, 2U})
          right += first_byte(cache, field, sample) == static_cast<std::byte>(sample) ? 1 : 0;
    });
  for (auto& thread : threads) thread.join();
  CHECK(right == 1200);
  CHECK(source->reads[0] == 1);
  CHECK(source->reads[1] == 1);
  CHECK(source->reads[2] == 400);
}

TEST_CASE("fields are kept up to the memory limit, the smallest first, and a field that could not be read is read again") {
  const auto source = std::make_shared<Counting>();
  CHECK(data::FieldCache(source, 0).bytes() == 0);
  CHECK(data::FieldCache(source, 99).bytes() == 0);
  const data::FieldCache cache(source, 450);
  CHECK(cache.bytes() == 100);
  source->fails = 1;
  CHECK_THROWS_WITH(first_byte(cache, 0, 7), Contains("not now"));
  CHECK(first_byte(cache, 0, 7) == std::byte{7});
  CHECK(first_byte(cache, 1, 7) == std::byte{7});
  CHECK(first_byte(cache, 1, 8) == std::byte{8});
  CHECK(source->reads[0] == 1);
  CHECK(source->reads[1] == 2);
}

TEST_CASE("a dataset that exceeds its memory keeps its labels") {
  using namespace std::string_literals;
  const Scratch dir;
  std::string images(100 * 64, '\1'), labels;
  for (char i = 0; i < 100; ++i) labels += i;
  write(dir / "x-images-idx3-ubyte", "\0\0\x8\x3\0\0\0\x64\0\0\0\x8\0\0\0\x8"s + images);
  write(dir / "x-labels-idx1-ubyte", "\0\0\x8\x1\0\0\0\x64"s + labels);
  const auto dataset =
      open({{"source", dir / "x-images-idx3-ubyte"}, {"labels", dir / "x-labels-idx1-ubyte"}, {"memory", "1000 B"}});
  CHECK(dataset->plan().memory == 900);
  CHECK(gathered<std::uint8_t>(*dataset, 1, {5, 99, 0}) == std::vector<std::uint8_t>{5, 99, 0});
  fs::remove(dir / "x-labels-idx1-ubyte");
  fs::resize_file(dir / "x-images-idx3-ubyte", 20);
  CHECK(gathered<std::uint8_t>(*dataset, 1, {7}) == std::vector<std::uint8_t>{7});
  CHECK_THROWS_WITH(gathered<std::uint8_t>(*dataset, 0, {7}), Contains("x-images-idx3-ubyte"));
}
