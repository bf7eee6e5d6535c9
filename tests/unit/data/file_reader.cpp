#include "data/bytes/file_reader.hpp"

#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <numeric>
#include <thread>

#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "data/bytes/input_file.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"
#include "unit/data/npy_bytes.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

bool can_be_had(const data::ReadWay& way) try {
  way.require();
  return true;
} catch (const UsageError& error) {
  CHECK_THAT(error.what(), Contains("set read = pread"));
  return false;
}

std::string random_bytes(std::size_t count) {
  Random random(3, 0);
  std::string bytes(count, '\0');
  for (auto& byte : bytes) byte = static_cast<char>(random.below(256));
  return bytes;
}

data::DataFile listed(const std::string& path, const data::ReadWay& way) {
  auto file = data::data_file(path);
  file.way = &way;
  return file;
}

std::atomic<int> reads_that_fail = 0, opened = 0;

/// As of a server that is away for the next `reads_that_fail`: then the file has to be opened again.
class AwayReader final : public data::FileReader {
 public:
  AwayReader(int fd, const data::DataFile& file) : file_(file), plain_(data::plain_reader(fd, file)) { ++opened; }
  void read(std::span<const data::FilePart> parts) const override {
    if (reads_that_fail-- > 0) io::fail("read", file_.path, ESTALE);
    plain_->read(parts);
  }

 private:
  const data::DataFile& file_;
  std::unique_ptr<data::FileReader> plain_;
};

const data::ReadWay away_twice{.name = "away",
                               .help = "",
                               .require = [] {},
                               .open = [](int fd, const data::DataFile& file) -> std::unique_ptr<data::FileReader> {
                                 return std::make_unique<AwayReader>(fd, file);
                               }};

/// Whether `count` parts at random places, some of them empty, are what the file holds there.
bool are_right(const data::InputFile& file, const std::string& bytes, Random& random, std::size_t count) {
  std::vector<std::vector<std::byte>> got(count);
  std::vector<data::FilePart> parts;
  for (auto& into : got) {
    into.resize(random.below(3000));
    parts.push_back({random.below(bytes.size() - into.size() + 1), into});
  }
  file.read(parts);
  return std::ranges::all_of(parts, [&](const data::FilePart& part) {
    return part.into.empty() || std::memcmp(part.into.data(), bytes.data() + part.offset, part.into.size()) == 0;
  });
}

}  // namespace

TEST_CASE("every way of reading gives the bytes of all parts, to several threads at once") {
  const Scratch dir;
  const auto bytes = random_bytes(100001);
  write(dir / "data", bytes);
  for (const auto* way : data::read_way_table()) {
    if (!can_be_had(*way)) continue;
    CAPTURE(way->name);
    const data::InputFile file(listed(dir / "data", *way));
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 3; ++thread)
      threads.emplace_back([&, thread] {
        Random random(4, thread);
        for (const std::size_t count : {0U, 1U, 2U, 63U, 64U, 65U, 200U})
          if (!are_right(file, bytes, random, count)) ++wrong;
      });
    for (auto& thread : threads) thread.join();
    CHECK(wrong == 0);
  }
}

TEST_CASE("every way of reading names a file that ends before a part does, or that was cut since it was listed") {
  const Scratch dir;
  const auto path = dir / "data";
  for (const auto* way : data::read_way_table()) {
    if (!can_be_had(*way)) continue;
    CAPTURE(way->name);
    write(path, std::string(9000, 'x'));
    const auto file = listed(path, *way);
    const data::InputFile open(file);
    std::vector<std::byte> one(100), other(100);
    const std::vector<data::FilePart> beyond{{8850, one}, {8950, other}}, behind{{8850, one}, {1U << 20, other}};
    CHECK_THROWS_WITH(open.read(beyond), Contains(path) && Contains("ends at byte 9000"));
    CHECK_THROWS_WITH(open.read(behind), Contains(path) && Contains("ends at byte"));
    fs::resize_file(path, 50);
    CHECK_THROWS_WITH(open.read(8800, one), Contains(path) && Contains("it had 9000 bytes, and has 50"));
    CHECK_THROWS_WITH(data::InputFile(file), Contains(path) && Contains("was changed"));
    write(path, "");
    CHECK(data::InputFile(listed(path, *way)).size() == 0);
  }
}

TEST_CASE("storage that is away for a moment is waited for, and its files are opened again") {
  const Scratch dir;
  write(dir / "data", "0123456789");
  const auto file = listed(dir / "data", away_twice);
  std::vector<std::byte> into(4);
  reads_that_fail = 2;
  opened = 0;
  CHECK_THROWS_AS(data::InputFile(file).read(3, into), io::StorageError);  // the default is not to wait
  reads_that_fail = 2;
  opened = 0;
  io::set_storage_timeout(30);
  const data::InputFile open(file);
  open.read(3, into);
  io::set_storage_timeout(0);
  CHECK(std::memcmp(into.data(), "3456", 4) == 0);
  CHECK(opened == 3);
}

TEST_CASE("datasets hold the same, whatever the key read says") {
  const Scratch dir;
  std::vector<std::uint16_t> ids(5000);
  std::iota(ids.begin(), ids.end(), std::uint16_t{1});
  for (std::size_t at = 40; at < ids.size(); at += 97) ids[at] = 0;
  write(dir / "train.bin", values_of(ids));
  std::vector<std::int32_t> rows(3 * 700);
  std::iota(rows.begin(), rows.end(), 0);
  write(dir / "x.npy", npy_bytes("{'descr': '>i4', 'fortran_order': False, 'shape': (700, 3), }", values_of(rows)));
  const std::map<std::string, std::string> tokens{{"source", dir / "train.bin"}, {"length", "9"}, {"stride", "4"},
                                                  {"document_end", "0"},         {"pad", "7"},    {"memory", "0"}},
      npy_file{{"source", dir / "x.npy"}, {"memory", "0"}};
  for (auto section : {tokens, npy_file}) {
    const auto plain = open(section);
    std::vector<std::uint64_t> all(plain->source()->size()), some;
    std::iota(all.begin(), all.end(), 0);
    Random random(1, 1);
    for (int i = 0; i < 500; ++i) some.push_back(random.below(all.size()));
    for (const auto* way : data::read_way_table()) {
      if (!can_be_had(*way)) continue;
      CAPTURE(way->name);
      section["read"] = way->name;
      const auto dataset = open(section);
      CHECK(gathered<std::int32_t>(*dataset, 0, all) == gathered<std::int32_t>(*plain, 0, all));
      CHECK(gathered<std::int32_t>(*dataset, 0, some) == gathered<std::int32_t>(*plain, 0, some));
    }
  }
}

TEST_CASE("a way of reading that there is not, or not here, is an error that says what to do") {
  const Scratch dir;
  write(dir / "train.bin", std::string(100, 'x'));
  std::map<std::string, std::string> section{{"source", dir / "train.bin"}, {"length", "4"}, {"read", "urin"}};
  CHECK_THROWS_WITH(open(section), Contains("[data.train]") && Contains("uring") && Contains("pread"));
  section["read"] = "uring";
  const auto listing = data::list_dataset("train", options(section));
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  std::string said;
  try {
    data::open_dataset("train", options(section), listing, {}, 1);
  } catch (const UsageError& error) {
    said = error.what();
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK_THAT(said, Contains("[data.train]") && Contains("io_uring") && Contains("set read = pread"));
}
