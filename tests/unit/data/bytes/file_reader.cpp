#include "data/bytes/read_method.hpp"

#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <numeric>

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

bool is_available(const data::ReadMethod& method) try {
  method.require();
  return true;
} catch (const UsageError& error) {
  CHECK_THAT(error.what(), Contains("Set read_method = pread"));
  return false;
}

data::DataFile listed(const std::string& path, const data::ReadMethod& method) {
  auto file = data::data_file(path);
  file.read_method = &method;
  return file;
}

std::atomic<int> reads_that_fail = 0, opened = 0;

/// Reads like a file server that is unavailable for `reads_that_fail` reads, after which the file must be opened again.
class UnavailableReader final : public data::FileReader {
 public:
  UnavailableReader(int fd, const data::DataFile& file) : file_(file), plain_(data::pread_reader(fd, file)) { ++opened; }
  void read(std::span<const data::FilePart> parts) const override {
    if (reads_that_fail-- > 0) io::fail("read", file_.path, ESTALE);
    plain_->read(parts);
  }

 private:
  const data::DataFile& file_;
  std::unique_ptr<data::FileReader> plain_;
};

const data::ReadMethod unavailable_storage{
    .name = "unavailable",
    .help = "",
    .require = [] {},
    .open = [](int fd, const data::DataFile& file) -> std::unique_ptr<data::FileReader> {
      return std::make_unique<UnavailableReader>(fd, file);
    }};

}  // namespace

TEST_CASE("every read method states the size of a file when it was listed, and its present size") {
  const Scratch dir;
  for (const auto* method : data::read_method_table()) {
    if (!is_available(*method)) continue;
    CAPTURE(method->name);
    write(dir / "data", std::string(9000, 'x'));
    const data::InputFile file(listed(dir / "data", *method));
    std::vector<std::byte> into(100);
    fs::resize_file(dir / "data", 50);
    CHECK_THROWS_WITH(file.read(8800, into), Contains(dir / "data") && Contains("it had 9000 bytes and now has 50"));
  }
}

TEST_CASE("reading waits while the storage is unavailable, and then opens the file again") {
  const Scratch dir;
  write(dir / "data", "0123456789");
  const auto file = listed(dir / "data", unavailable_storage);
  std::vector<std::byte> into(4);
  reads_that_fail = 2;
  opened = 0;
  CHECK_THROWS_AS(data::InputFile(file).read(3, into), io::StorageError);  // by default, a read does not wait
  reads_that_fail = 2;
  opened = 0;
  io::set_storage_timeout(30);
  const data::InputFile open(file);
  open.read(3, into);
  io::set_storage_timeout(0);
  CHECK(std::memcmp(into.data(), "3456", 4) == 0);
  CHECK(opened == 3);
}

TEST_CASE("a dataset has the same values with each read method") {
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
    for (const auto* method : data::read_method_table()) {
      if (!is_available(*method)) continue;
      CAPTURE(method->name);
      section["read_method"] = method->name;
      const auto dataset = open(section);
      CHECK(gathered<std::int32_t>(*dataset, 0, all) == gathered<std::int32_t>(*plain, 0, all));
      CHECK(gathered<std::int32_t>(*dataset, 0, some) == gathered<std::int32_t>(*plain, 0, some));
    }
  }
}

TEST_CASE("an unknown or unavailable read method is an error that states the remedy") {
  const Scratch dir;
  write(dir / "train.bin", std::string(100, 'x'));
  std::map<std::string, std::string> section{{"source", dir / "train.bin"}, {"length", "4"}, {"read_method", "urin"}};
  CHECK_THROWS_WITH(open(section), Contains("[data.train]") && Contains("uring") && Contains("pread"));
  section["read_method"] = "uring";
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
  CHECK_THAT(said, Contains("[data.train]") && Contains("io_uring") && Contains("Set read_method = pread"));
}
