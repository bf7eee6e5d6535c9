#include "data/node_memory/node_cache.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <future>
#include <latch>
#include <numeric>
#include <thread>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

using namespace trainrt;
using Catch::Contains;
using data::Column;
using data::NodeCache;
using data::Reading;
using data::UnitLayout;

namespace {

constexpr std::uint64_t samples_in_all = 1000;
constexpr std::uint64_t small_unit = 512;  // size of a unit in bytes; a unit then has about 20 samples

using Fields = std::vector<Dataset::Field>;

/// A source in which field "n" is the number of the sample, and field "pair" is twice and three times this number.
class NumberSource final : public data::Source {
 public:
  std::uint64_t size() const override { return samples_in_all; }
  const Fields& fields() const override { return fields_; }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    read_samples += samples.size() * columns.size();
    if (before) before();
    for (auto& column : columns) {
      column.values.resize(samples.size() * data::sample_bytes(fields_[column.field]));
      auto* to = reinterpret_cast<std::int64_t*>(column.values.data());
      for (const auto sample : samples)
        for (std::int64_t factor = column.field == 0 ? 1 : 2; factor <= (column.field == 0 ? 1 : 3); ++factor)
          *to++ = factor * static_cast<std::int64_t>(sample);
    }
  }
  std::function<void()> before;  ///< called before each read
  mutable std::atomic<std::uint64_t> read_samples = 0;

 private:
  Fields fields_{{"n", DType::i64, {}}, {"pair", DType::i64, {2}}};
};

/// Memory that children of this process share with it.
data::NodeShare shared_memory(const UnitLayout& layout, int ranks = 2) {
  const auto bytes = NodeCache::memory_bytes(layout);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  data::NodeShare share{ranks, {static_cast<std::byte*>(memory), [bytes](std::byte* p) { munmap(p, bytes); }}, nullptr};
  data::UnitStates::make(share.memory.get(), layout);
  return share;
}

/// Field "text": the number of the sample, up to 4 digits.
class TextSource final : public data::Source {
 public:
  std::uint64_t size() const override { return samples_in_all; }
  const Fields& fields() const override { return fields_; }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    read_samples += samples.size();
    for (auto& column : columns) {
      column = {column.field, {}, {}};
      for (const auto sample : samples) {
        for (const auto digit : std::to_string(sample * 101).substr(0, sample % 5))
          column.values.push_back(static_cast<std::byte>(digit));
        column.ends.push_back(column.values.size());
      }
    }
  }
  mutable std::atomic<std::uint64_t> read_samples = 0;

 private:
  Fields fields_{{"text", DType::u8, {}, true}};
};

bool has_texts(const data::Source& source, const std::vector<std::uint64_t>& samples) {
  Column expected, found;
  TextSource().read(samples, {&expected, 1});
  source.read(samples, {&found, 1});
  return found.values == expected.values && found.ends == expected.ends;
}

UnitLayout layout_of(std::vector<UnitLayout::File> parts = {{samples_in_all}}) {
  return UnitLayout(NumberSource().fields(), parts, small_unit);
}

struct Rank {
  std::shared_ptr<NumberSource> source = std::make_shared<NumberSource>();
  int closed = 0;
  std::unique_ptr<NodeCache> cache;
  Rank(const UnitLayout& layout, const data::NodeShare& share, NodeCache::Settings part) {
    cache = std::make_unique<NodeCache>(
        source, [this] { ++closed; }, layout, share, std::move(part));
  }
};

std::vector<std::int64_t> values_of(const data::Source& source, const std::vector<std::uint64_t>& samples,
                                    std::size_t field) {
  Column column{field, {}, {}};
  source.read(samples, {&column, 1});
  const auto* first = reinterpret_cast<const std::int64_t*>(column.values.data());
  return {first, first + column.values.size() / sizeof(std::int64_t)};
}

bool is_right(const data::Source& source, const std::vector<std::uint64_t>& samples) {
  const NumberSource plain;
  return values_of(source, samples, 0) == values_of(plain, samples, 0) &&
         values_of(source, samples, 1) == values_of(plain, samples, 1);
}

/// Returns the numbers of all samples in a mixed order: each number is the previous one plus `step`, modulo the number
/// of samples.
std::vector<std::uint64_t> mixed(std::uint64_t step = 7) {
  std::vector<std::uint64_t> samples(samples_in_all);
  for (std::uint64_t i = 0; i < samples_in_all; ++i) samples[i] = (i * step + 3) % samples_in_all;
  return samples;
}

}  // namespace

TEST_CASE("units cover all samples, and do not divide groups that are read together") {
  const Fields fields{{"x", DType::u8, {10}}};
  const std::vector<UnitLayout::File> parts{{3}, {4}, {100, Reading::by_field, 8},   {50, Reading::as_a_whole},
                                            {1}, {0}, {30, Reading::by_record, 1000}};
  const UnitLayout layout(fields, parts, 100);
  std::uint64_t end = 0;
  for (std::size_t unit = 0; unit < layout.units(); ++unit) {
    INFO("unit " << unit);
    CHECK(layout.first(unit) == end);
    REQUIRE(layout.end(unit) > end);
    end = layout.end(unit);
    CHECK(layout.unit_of(layout.first(unit)) == unit);
    CHECK(layout.unit_of(end - 1) == unit);
    const bool is_in_chunks = end > 7 && end < 107;
    CHECK((!is_in_chunks || (end - 7) % 8 == 0));
    CHECK(!(end > 107 && end < 157));  // the fourth file is unpacked as a whole
    CHECK(!(end > 158 && end < 188));  // records of the last file are read together
  }
  CHECK(end == 188);
  CHECK(layout.end(0) >= 10);  // small files share a unit
  CHECK(layout.reading(layout.unit_of(107)) == Reading::as_a_whole);
  CHECK(layout.reading(layout.unit_of(187)) >= Reading::by_record);
  CHECK(layout.reading(0) == Reading::by_field);
  CHECK(layout.bytes() >= 1880);
}

TEST_CASE("each unit is read once per node, in any order of ranks, and then copied from memory") {
  const auto layout = layout_of();
  REQUIRE(layout.units() > 10);
  const auto share = shared_memory(layout);
  Rank first(layout, share, {"train", 0}), second(layout, share, {"train", 1});
  CHECK_FALSE(first.cache->is_resident());
  std::atomic<bool> are_right[2] = {false, false};
  std::thread other([&] { are_right[1] = is_right(*second.cache, mixed(11)); });
  are_right[0] = is_right(*first.cache, mixed());
  other.join();
  CHECK(are_right[0]);
  CHECK(are_right[1]);
  // Each sample counts twice, because the source counts the reads of both fields.
  CHECK(first.source->read_samples + second.source->read_samples == 2 * samples_in_all);
  for (const auto* rank : {&first, &second}) {
    CHECK(rank->cache->is_resident());
    CHECK(rank->cache->is_resident());
    CHECK(rank->closed == (rank->source->read_samples > 0 ? 1 : 0));  // files are closed once, if the rank has read any
  }
  CHECK(is_right(*second.cache, mixed(13)));
  CHECK(first.source->read_samples + second.source->read_samples == 2 * samples_in_all);
}

TEST_CASE("a field that no rank reads is not loaded, and the cache becomes resident without it") {
  const auto layout = layout_of();
  Rank rank(layout, shared_memory(layout), {"train", 0});
  CHECK(values_of(*rank.cache, mixed(), 0).size() == samples_in_all);
  CHECK(rank.source->read_samples == samples_in_all);
  CHECK(rank.cache->is_resident());
  CHECK(values_of(*rank.cache, {5}, 1) == std::vector<std::int64_t>{10, 15});
  CHECK_FALSE(rank.cache->is_resident());
}

TEST_CASE("all fields of a file that is unpacked are loaded at once, and the file is closed") {
  const auto layout = layout_of({{samples_in_all, Reading::as_a_whole}});
  REQUIRE(layout.units() == 1);
  Rank rank(layout, shared_memory(layout), {"train", 0});
  CHECK(values_of(*rank.cache, {5}, 1) == std::vector<std::int64_t>{10, 15});
  CHECK(rank.source->read_samples == 2 * samples_in_all);
  CHECK(rank.closed == 1);
  CHECK(is_right(*rank.cache, mixed()));
  CHECK(rank.source->read_samples == 2 * samples_in_all);
}

TEST_CASE("all fields of records are loaded at once, unit by unit") {
  const auto layout = layout_of({{samples_in_all, Reading::by_record}});
  REQUIRE(layout.units() > 10);
  Rank rank(layout, shared_memory(layout), {"train", 0});
  CHECK(values_of(*rank.cache, {5}, 1) == std::vector<std::int64_t>{10, 15});
  const auto read = rank.source->read_samples.load();
  CHECK(is_right(*rank.cache, {5}));
  CHECK(rank.source->read_samples == read);
  CHECK(rank.closed == 0);
}

TEST_CASE("a cache for chosen rows is resident when their units are loaded") {
  const auto layout = layout_of();
  Rank rank(layout, shared_memory(layout), {"train", 0, "900:910, 17, 15:19"});
  CHECK(values_of(*rank.cache, {905}, 0) == std::vector<std::int64_t>{905});
  CHECK_FALSE(rank.cache->is_resident());
  CHECK(values_of(*rank.cache, {900, 909, 15, 18}, 0) == std::vector<std::int64_t>{900, 909, 15, 18});
  CHECK(rank.cache->is_resident());
  CHECK(rank.source->read_samples < 5 * small_unit / 8);
}

TEST_CASE("if a rank is killed while it reads a unit, another rank reads it again without waiting") {
  const auto layout = layout_of();
  const auto share = shared_memory(layout);
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const auto child = fork();
  if (child == 0) {
    Rank rank(layout, share, {"train", 1, "", 3600});
    rank.source->before = [&] {
      if (rank.source->read_samples < 100) return;
      if (write(ready[1], "x", 1) == 1) pause();
    };
    is_right(*rank.cache, mixed(1));
    _exit(1);
  }
  char word = 0;
  REQUIRE(read(ready[0], &word, 1) == 1);
  Rank rank(layout, share, {"train", 0, "", 30});
  auto values = std::async(std::launch::async, [&] { return is_right(*rank.cache, mixed()); });
  CHECK(values.wait_for(std::chrono::milliseconds(300)) == std::future_status::timeout);  // it waits for the child's unit
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  REQUIRE(values.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
  CHECK(values.get());
  CHECK(rank.cache->is_resident());
  CHECK(rank.source->read_samples < 2 * samples_in_all);  // units that the child had finished are not read again
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("processes that fill one memory all get the right values") {
  const auto layout = layout_of();
  const auto share = shared_memory(layout, 4);
  std::vector<pid_t> children;
  for (int number = 1; number < 4; ++number) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    Rank rank(layout, share, {"train", number});
    const bool are_good = is_right(*rank.cache, mixed(static_cast<std::uint64_t>(number) * 2 + 1));
    _exit(are_good && rank.cache->is_resident() ? 0 : 1);
  }
  Rank rank(layout, share, {"train", 0});
  CHECK(is_right(*rank.cache, mixed()));
  for (const auto child : children) {
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}

TEST_CASE("an error is thrown only on its rank; the next rank that needs the unit reads it") {
  const auto layout = layout_of();
  const auto share = shared_memory(layout);
  Rank bad(layout, share, {"train", 0}), good(layout, share, {"train", 1});
  bad.source->before = [] { throw Error("'x.h5' is truncated"); };
  CHECK_THROWS_WITH(is_right(*bad.cache, {4}), Contains("x.h5"));
  CHECK_THROWS_WITH(is_right(*bad.cache, {4}), Contains("x.h5"));
  CHECK(is_right(*good.cache, {4}));
  CHECK(is_right(*bad.cache, {4}));
}

TEST_CASE("after a timeout, a rank reads its samples itself, and does not wait for that unit again") {
  const auto layout = layout_of();
  const auto share = shared_memory(layout);
  Rank slow(layout, share, {"train", 0}), quick(layout, share, {"train", 1, "", 0.1});
  std::latch begun(1), go_on(1);
  slow.source->before = [&, is_first = true]() mutable {
    if (!std::exchange(is_first, false)) return;
    begun.count_down();
    go_on.wait();
  };
  std::atomic<bool> slow_is_right = false;
  std::thread filler([&] { slow_is_right = values_of(*slow.cache, {500}, 0) == std::vector<std::int64_t>{500}; });
  begun.wait();
  CHECK(is_right(*quick.cache, {500, 2, 501}));
  const auto before = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) CHECK(is_right(*quick.cache, {500, 3}));
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(1));
  go_on.count_down();
  filler.join();
  CHECK(slow_is_right);
  CHECK(is_right(*quick.cache, mixed()));
  CHECK(quick.cache->is_resident());
}

TEST_CASE("samples that vary in length are kept once per node") {
  const std::vector<UnitLayout::File> parts{{samples_in_all}};
  const UnitLayout layout(TextSource().fields(), parts, small_unit, 4 * samples_in_all);
  REQUIRE(layout.units() > 10);
  const auto share = shared_memory(layout);
  const auto first = std::make_shared<TextSource>(), second = std::make_shared<TextSource>();
  const NodeCache one(first, [] {}, layout, share, {"train", 0}), other(second, [] {}, layout, share, {"train", 1});
  CHECK(has_texts(one, {7, 999, 7, 0}));
  bool is_right_there = false;
  std::thread there([&] { is_right_there = has_texts(other, mixed(11)); });
  CHECK(has_texts(one, mixed()));
  there.join();
  CHECK(is_right_there);
  CHECK(first->read_samples + second->read_samples == samples_in_all);
  CHECK(other.is_resident());
}

TEST_CASE("without space for them, samples of varying length are read from the files when needed") {
  const std::vector<UnitLayout::File> parts{{samples_in_all}};
  const UnitLayout layout(TextSource().fields(), parts, small_unit, 300);
  const auto source = std::make_shared<TextSource>();
  const NodeCache cache(source, [] {}, layout, shared_memory(layout), {"train", 0});
  CHECK(has_texts(cache, mixed()));
  CHECK_FALSE(cache.is_resident());
  const auto before = source->read_samples.load();
  for (std::uint64_t sample = 0; sample < samples_in_all; ++sample) CHECK(has_texts(cache, {sample}));
  CHECK(source->read_samples - before < samples_in_all);  // samples in memory are not read again
  CHECK(source->read_samples - before > samples_in_all / 2);
}

TEST_CASE("without memory for a unit, its samples are read from the files") {
  const auto layout = layout_of();
  auto share = shared_memory(layout);
  share.file = std::make_shared<const int>(open("/dev/null", O_RDONLY | O_CLOEXEC));  // in which no pages can be taken
  Rank rank(layout, share, {"train", 0});
  CHECK(is_right(*rank.cache, mixed()));
  CHECK(is_right(*rank.cache, mixed(3)));
  CHECK_FALSE(rank.cache->is_resident());
  close(*share.file);
}
