#include "data/bytes/data_file.hpp"

#include <atomic>
#include <thread>

#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "data/bytes/input_file.hpp"
#include "data/source/block_source.hpp"
#include "data/source/concatenated_source.hpp"
#include "data/source/row_source.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;
using Catch::EndsWith;

namespace {

std::vector<std::string> names(const std::string& source, const Scratch& dir) {
  std::vector<std::string> found;
  for (const auto& file : data::list_data_files(source)) found.push_back(file.path.substr(dir.path().size() + 1));
  return found;
}

}  // namespace

TEST_CASE("a source is a file, a folder, a pattern, a list, or several of them") {
  const Scratch dir;
  fs::create_directories(dir / "f/sub");
  fs::create_directories(dir / "f/_temporary");
  for (const auto* name : {"f/b.csv", "f/a.csv", "f/sub/c.csv", "f/.hidden", "f/_SUCCESS", "f/_temporary/x", "with, comma"})
    write(dir / name, "1");
  using Names = std::vector<std::string>;
  CHECK(names(dir / "f/a.csv", dir) == Names{"f/a.csv"});
  CHECK(names(dir / "f", dir) == Names{"f/a.csv", "f/b.csv", "f/sub/c.csv"});
  CHECK(names(dir / "f/*.csv", dir) == Names{"f/a.csv", "f/b.csv"});
  CHECK(names(dir / "f/[b-z]*.csv" + ", " + dir / "f/a.csv", dir) == Names{"f/b.csv", "f/a.csv"});
  CHECK(names(dir / "with, comma", dir) == Names{"with, comma"});
  write(dir / "list", "# files\n" + dir / "f/sub" + "\n\n  " + dir / "f/a.csv" + "\n");
  CHECK(names("@" + dir / "list", dir) == Names{"f/sub/c.csv", "f/a.csv"});
}

TEST_CASE("a source without files is an error that quotes it") {
  const Scratch dir;
  fs::create_directories(dir / "empty");
  write(dir / "list", "# nothing\n");
  CHECK_THROWS_WITH(data::list_data_files(dir / "x.csv"), Contains("x.csv") && Contains("does not exist"));
  CHECK_THROWS_WITH(data::list_data_files(dir / "*.csv"), Contains("*.csv") && Contains("matches no file"));
  CHECK_THROWS_WITH(data::list_data_files(dir / "empty"), Contains("empty") && Contains("is a folder without files"));
  CHECK_THROWS_WITH(data::list_data_files("@" + dir / "list"), Contains("list") && Contains("is a list without files"));
  CHECK_THROWS_WITH(data::list_data_files(" "), Contains("is empty"));
  CHECK_THROWS_WITH(data::list_data_files("/dev/null"), Contains("/dev/null") && Contains("is not a file"));
  CHECK_THROWS_AS(data::list_data_files(dir / "x.csv"), UsageError);
  write(dir / "houses.csv", "x");
  CHECK_THROWS_WITH(data::list_data_files(dir / "house.csv"), EndsWith("does not exist (did you mean 'houses.csv'?)"));
  CHECK_THROWS_WITH(data::list_data_files(dir / "other.h5"), EndsWith("does not exist"));
}

TEST_CASE("a file that was changed after it was listed, or is truncated while it is read, is an error that names it") {
  const Scratch dir;
  const auto path = dir / "data";
  write(path, std::string(100, 'x'));
  const auto listed = data::data_file(path);
  const data::InputFile open(listed);
  std::vector<std::byte> bytes(10);
  open.read(90, bytes);
  CHECK_THROWS_WITH(open.read(95, bytes), Contains(path) && Contains("ends at byte 100"));
  fs::resize_file(path, 50);
  CHECK_THROWS_WITH(open.read(90, bytes), Contains(path) && Contains("it had 100 bytes and now has 50"));
  CHECK_THROWS_WITH(data::InputFile(listed), Contains(path) && Contains("was changed"));
}

TEST_CASE("rows are the same from memory and from the file, in any order") {
  const Scratch dir;
  const auto path = dir / "rows";
  constexpr std::uint64_t rows = 300, row_bytes = 1024;
  {
    std::ofstream file(path, std::ios::binary);
    std::vector<char> row(row_bytes);
    file << "head";
    for (std::uint64_t i = 0; i < rows; ++i) {
      std::memcpy(row.data(), &i, sizeof(i));
      file.write(row.data(), row_bytes);
    }
  }
  const auto file = std::make_shared<data::InputFile>(data::data_file(path));
  for (const bool keep : {false, true}) {
    const auto all = data::rows_in_file(file, {4, rows, row_bytes, 1}, keep);
    CHECK(all.is_resident == keep);
    const std::vector<std::uint64_t> asked{7, 8, 9, 3, 99, 98, 7};
    std::vector<std::byte> got(asked.size() * row_bytes);
    all.read(asked, got.data());
    for (std::size_t i = 0; i < asked.size(); ++i) CHECK(std::memcmp(got.data() + i * row_bytes, &asked[i], 8) == 0);
  }
  CHECK_THROWS_WITH(data::rows_in_file(file, {5, rows, row_bytes, 1}, false), Contains(path) && Contains("truncated"));
  CHECK_THROWS_AS(data::rows_in_file(file, {5, rows, row_bytes, 1}, false), UsageError);
}

namespace {

/// A source in which sample i has the number first + i, and a text of first + i letters.
class PartSource final : public data::Source {
 public:
  PartSource(std::uint64_t first, std::uint64_t size) : first_(first), size_(size) {}
  std::uint64_t size() const override { return size_; }
  bool is_resident() const override { return true; }
  const std::vector<Dataset::Field>& fields() const override { return fields_of(); }
  static const std::vector<Dataset::Field>& fields_of() {
    static const std::vector<Dataset::Field> fields{{"n", DType::i64, {}}, {"text", DType::u8, {}, true}};
    return fields;
  }
  void read(std::span<const std::uint64_t> samples, std::span<data::Column> columns) const override {
    for (auto& column : columns) {
      column.values.clear();
      column.ends.clear();
      for (const auto sample : samples) add(first_ + sample, column);
    }
  }

 private:
  static void add(std::uint64_t number, data::Column& column) {
    if (column.field == 0) {
      column.values.resize(column.values.size() + 8);
      std::memcpy(column.values.data() + column.values.size() - 8, &number, 8);
    } else {
      column.values.resize(column.values.size() + number, std::byte{'a'});
      column.ends.push_back(column.values.size());
    }
  }
  std::uint64_t first_, size_;
};

}  // namespace

TEST_CASE("several files are read as one, each opened at its first use, and at most max_open at a time") {
  std::vector<std::uint64_t> sizes, firsts;
  std::uint64_t first = 0;
  for (std::uint64_t part = 0; part < 3 * data::ConcatenatedSource::max_open; ++part) {
    sizes.push_back(part % 3);  // some sources are empty
    firsts.push_back(first);
    first += part % 3;
  }
  std::vector<std::weak_ptr<const data::Source>> opened;
  const auto open = [&](std::size_t part) {
    auto source = std::make_shared<PartSource>(firsts[part], sizes[part]);
    opened.push_back(source);
    return source;
  };
  const data::ConcatenatedSource all(PartSource::fields_of(), sizes, open, false);
  CHECK(all.size() == first);
  CHECK(opened.empty());
  const std::vector<std::uint64_t> asked{first - 1, 0, 5, 4, first - 1, 17};
  std::vector<data::Column> columns{{1, {}, {}}, {0, {}, {}}};
  all.read(asked, columns);
  std::vector<std::uint64_t> numbers(asked.size()), ends;
  std::memcpy(numbers.data(), columns[1].values.data(), columns[1].values.size());
  CHECK(numbers == asked);
  std::uint64_t end = 0;
  for (const auto number : asked) ends.push_back(end += number);
  CHECK(columns[0].ends == ends);
  CHECK(columns[0].values.size() == end);
  CHECK(opened.size() == 4);
  std::vector<std::uint64_t> every(first);
  for (std::uint64_t i = 0; i < first; ++i) every[i] = i;
  all.read(every, columns);
  std::size_t alive = 0;
  for (const auto& each : opened) alive += each.expired() ? 0 : 1;
  CHECK(alive == data::ConcatenatedSource::max_open);
}

TEST_CASE("files that are kept in memory stay open, and are resident once all have been read") {
  const auto open = [](std::size_t part) { return std::make_shared<PartSource>(part, 1); };
  const std::vector<std::uint64_t> sizes(2 * data::ConcatenatedSource::max_open, 1);
  const data::ConcatenatedSource all(PartSource::fields_of(), sizes, open, true);
  CHECK_FALSE(all.is_resident());
  std::vector<data::Column> columns{{0, {}, {}}};
  for (std::uint64_t sample = 0; sample < sizes.size(); ++sample) all.read({&sample, 1}, columns);
  CHECK(all.is_resident());
}

TEST_CASE("a block source returns the same samples as its source, and reads a kept block once") {
  class Counting final : public data::Source {
   public:
    std::uint64_t size() const override { return all_.size(); }
    const std::vector<Dataset::Field>& fields() const override { return all_.fields(); }
    void read(std::span<const std::uint64_t> samples, std::span<data::Column> columns) const override {
      reads += samples.size();
      all_.read(samples, columns);
    }
    mutable std::size_t reads = 0;

   private:
    PartSource all_{0, 25};
  };
  const auto source = std::make_shared<Counting>();
  const data::BlockSource blocks(source, 10, 2);
  const std::vector<std::uint64_t> asked{24, 3, 20, 3, 9};
  std::vector<data::Column> got{{0, {}, {}}, {1, {}, {}}}, expected = got;
  blocks.read(asked, got);
  CHECK(source->reads == 2 * 15);
  blocks.read(asked, got);
  CHECK(source->reads == 2 * 15);
  blocks.read(std::vector<std::uint64_t>{12}, got);
  blocks.read(asked, got);
  CHECK(source->reads > 2 * 25);
  source->read(asked, expected);
  CHECK(got[0].values == expected[0].values);
  CHECK(got[1].values == expected[1].values);
  CHECK(got[1].ends == expected[1].ends);
}

TEST_CASE("a block that cannot be read is an error of requests for it only, although several are read at once") {
  class Damaged final : public data::Source {
   public:
    std::uint64_t size() const override { return all_.size(); }
    const std::vector<Dataset::Field>& fields() const override { return all_.fields(); }
    void read(std::span<const std::uint64_t> samples, std::span<data::Column> columns) const override {
      calls += 1;
      if (std::ranges::find(samples, bad) != samples.end()) throw Error("it is damaged");
      all_.read(samples, columns);
    }
    mutable std::size_t calls = 0;
    std::uint64_t bad = 12;

   private:
    PartSource all_{0, 40};
  };
  const auto source = std::make_shared<Damaged>();
  const data::BlockSource blocks(source, 10, 8);
  const std::vector<std::uint64_t> all{39, 3, 12, 25}, good{39, 3, 25};
  std::vector<data::Column> got{{0, {}, {}}}, expected = got;
  CHECK_THROWS_WITH(blocks.read(all, got), "it is damaged");
  blocks.read(good, got);
  const auto calls = source->calls;
  blocks.read(good, got);
  CHECK(source->calls == calls);
  source->read(good, expected);
  CHECK(got[0].values == expected[0].values);
  source->bad = 40;
  blocks.read(all, got);
  source->read(all, expected);
  CHECK(got[0].values == expected[0].values);
}

TEST_CASE("many threads read the same samples through few kept blocks as from the source") {
  const auto source = std::make_shared<PartSource>(0, 400);
  const data::BlockSource blocks(source, 7, 3);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      Random random(5, thread);
      std::vector<data::Column> got{{0, {}, {}}, {1, {}, {}}}, expected = got;
      for (int round = 0; round < 300; ++round) {
        std::vector<std::uint64_t> asked(1 + random.below(20));
        for (auto& sample : asked) sample = random.below(400);
        blocks.read(asked, got);
        source->read(asked, expected);
        if (got[0].values != expected[0].values || got[1].values != expected[1].values || got[1].ends != expected[1].ends)
          ++wrong;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}
