// Tests of datasets with values in memory that the ranks of a node share. The values must equal those without shared
// memory.
#include "data/section/dataset_values.hpp"

#include <minizip/zip.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <random>

#include <trainrt/error.hpp>

#include "data/node_memory/node_cache.hpp"
#include "unit/data/h5_support.hpp"
#include "unit/data/npy_bytes.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

using Keys = std::map<std::string, std::string>;

/// Returns shared memory for the values of a dataset. Its pages are allocated when they are first used.
data::NodeShare shared_memory(const data::UnitLayout& layout, int ranks) {
  const auto bytes = data::NodeCache::memory_bytes(layout);
  data::NodeShare share;
  share.ranks = ranks;
  share.file = {new int(memfd_create("test", MFD_CLOEXEC)), [](const int* fd) {
                  close(*fd);
                  delete fd;
                }};
  REQUIRE(ftruncate(*share.file, static_cast<off_t>(bytes)) == 0);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *share.file, 0);
  REQUIRE(memory != MAP_FAILED);
  share.memory = {static_cast<std::byte*>(memory), [bytes](std::byte* p) { munmap(p, bytes); }};
  data::UnitStates::make(share.memory.get(), layout);
  return share;
}

/// Returns the datasets that the ranks of one node open together.
std::vector<std::shared_ptr<DatasetImpl>> open_together(const Keys& keys, int ranks = 2) {
  const auto listing = data::listing_of(data::bytes_of(data::list_dataset("train", options(keys))));
  const auto layout = data::shared_layout("train", options(keys), listing);
  REQUIRE(layout);
  const auto share = shared_memory(*layout, ranks);
  std::vector<std::shared_ptr<DatasetImpl>> opened;
  for (int rank = 0; rank < 2; ++rank)
    opened.push_back(data::open_dataset("train", options(keys), listing, {rank, 2}, 1, share));
  return opened;
}

std::vector<std::uint64_t> in_any_order(std::uint64_t count) {
  std::vector<std::uint64_t> samples(count);
  std::iota(samples.begin(), samples.end(), 0);
  std::shuffle(samples.begin(), samples.end(), std::mt19937_64(7));
  return samples;
}

/// Returns the end of each sample's values, for a field that varies in length.
std::vector<std::uint64_t> ends_of(const DatasetImpl& dataset, std::size_t field,
                                   const std::vector<std::uint64_t>& samples) {
  data::Column column{field, {}, {}};
  dataset.source()->read(samples, {&column, 1});
  return column.ends;
}

void check_same(const Keys& keys) {
  const auto plain = open(keys);
  const auto ranks = open_together(keys);
  const auto samples = in_any_order(plain->source()->size());
  for (std::size_t field = 0; field < plain->source()->fields().size(); ++field) {
    INFO(plain->source()->fields()[field].name);
    const auto expected = gathered<char>(*plain, field, samples);
    REQUIRE_FALSE(expected.empty());
    for (const auto& rank : ranks) CHECK(gathered<char>(*rank, field, {samples[0], samples[1]}).size() > 0);
    for (const auto& rank : ranks) CHECK(gathered<char>(*rank, field, samples) == expected);
    if (plain->source()->fields()[field].varies)
      for (const auto& rank : ranks) CHECK(ends_of(*rank, field, samples) == ends_of(*plain, field, samples));
  }
  for (const auto& rank : ranks) CHECK(rank->source()->is_resident());
}

void write_gzip(const std::string& path, const std::string& bytes) {
  auto* file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

void write_deflated(const std::string& path, const std::string& name, const std::string& bytes) {
  auto* zip = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  zip_fileinfo info{};
  zipOpenNewFileInZip64(zip, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr, Z_DEFLATED, 9, 0);
  zipWriteInFileInZip(zip, bytes.data(), static_cast<unsigned>(bytes.size()));
  zipCloseFileInZip(zip);
  zipClose(zip, nullptr);
}

std::string npy_of(const std::string& shape, const std::string& values) {
  return npy_bytes("{'descr': '>i4', 'fortran_order': False, 'shape': " + shape + "}", values);
}

/// 300 samples of 20 bytes.
std::string idx_of_300() {
  std::string bytes{"\0\0\x08\x02\0\0\x01\x2c\0\0\0\x14", 12};
  for (int i = 0; i < 300 * 20; ++i) bytes += static_cast<char>(i * 7 + i / 256);
  return bytes;
}

}  // namespace

TEST_CASE("the values that a node keeps in memory are those of the files, in every format") {
  const Scratch dir;
  const auto numbers = values_of(counting_values(1200));
  SECTION("csv") {
    std::string rows = "a,b\n";
    for (int i = 0; i < 500; ++i) rows += std::to_string(i) + "," + std::to_string(i * 0.25) + "\n";
    write(dir / "x.csv", rows);
    check_same({{"source", dir / "x.csv"}});
    check_same({{"source", dir / "x.csv"}, {"cast", "b: f32"}, {"subset", "400:450, 3, 17"}});
  }
  SECTION("jsonl") {
    std::string rows;
    for (int i = 0; i < 100; ++i) rows += "{\"x\": [" + std::to_string(i) + ", 2], \"y\": " + std::to_string(-i) + "}\n";
    write(dir / "x.jsonl", rows);
    check_same({{"source", dir / "x.jsonl"}});
  }
  SECTION("texts and lists of any length") {
    std::string rows = "name,x,note\n", objects, lines;
    for (int i = 0; i < 400; ++i) {
      const std::string name(static_cast<std::size_t>(1 + i % 9), static_cast<char>('a' + i % 26));
      rows += name + "," + std::to_string(i) + ",\"" + (i % 3 == 0 ? "" : "a \"\"note\"\",\n" + name) + "\"\n";
      objects +=
          "{\"t\": \"" + name + "\\u00e9\", \"list\": [" + (i % 4 == 0 ? "" : "1") + (i % 4 > 1 ? ",-2,3" : "") + "]}\n";
      lines += name + "\n";
    }
    write(dir / "x.csv", rows);
    check_same({{"source", dir / "x.csv"}});
    write(dir / "x.jsonl", objects);
    check_same({{"source", dir / "x.jsonl"}});
    write(dir / "x.txt", lines);
    write(dir / "y.txt", lines + "one more");
    check_same({{"source", dir / "*.txt"}, {"subset", "3:700, 800"}});
  }
  SECTION("hdf5") {
    make_h5(dir / "x.h5", [](hid_t file) {
      add_counting(file, "plain", {1000, 3});
      add_counting(file, "packed", {1000, 500}, {.chunk = {64, 300}, .gzip = 4, .shuffle = true});
      add_counting(file, "other", {1000}, {.chunk = {7}, .gzip = 1});
    });
    check_same({{"source", dir / "x.h5"}});
    check_same({{"source", dir / "x.h5"}, {"shuffle", "true"}, {"block", "8"}, {"window", "4"}});
  }
  SECTION("idx") {
    write(dir / "a-idx2-ubyte", idx_of_300());
    write_gzip(dir / "b-idx2-ubyte.gz", idx_of_300());
    write(dir / "c-idx2-ubyte", idx_of_300());
    check_same({{"source", dir / "b-idx2-ubyte.gz"}});
    check_same({{"source", dir / "*-idx2-ubyte*"}, {"normalize", "images: 0.5 0.25"}});
    check_same({{"source", dir / "*-idx2-ubyte*"}, {"normalize", "images: 0.5 0.25"}, {"materialize", "true"}});
  }
  SECTION("npy and npz") {
    write(dir / "x.npy", npy_of("(300, 4)", numbers));
    check_same({{"source", dir / "x.npy"}});
    write_deflated(dir / "x.npz", "x.npy", npy_of("(1200,)", numbers));
    check_same({{"source", dir / "x.npz"}});
  }
  SECTION("tokens") {
    write(dir / "x.bin", numbers);
    check_same({{"source", dir / "x.bin"}, {"length", "16"}, {"pad", "7"}});
  }
  SECTION("made up, if they are to be kept") {
    check_same({{"format", "synthetic"}, {"samples", "700"}, {"materialize", "true"}});
    check_same({{"format", "range"}, {"samples", "700"}, {"materialize", "true"}});
  }
}

TEST_CASE("values that are larger than memory, or are in no file, are not kept in memory") {
  const Scratch dir;
  const auto is_kept = [](const Keys& keys) {
    return data::shared_layout("train", options(keys), data::list_dataset("train", options(keys))).has_value();
  };
  write(dir / "x.csv", "a,b\n1,one\n2,two\n");
  // The values need 64 bytes: 2 numbers, the position and length of 2 texts, and at most 16 bytes for texts, the file's
  // size.
  CHECK(is_kept({{"source", dir / "x.csv"}, {"memory", "64"}}));
  CHECK_FALSE(is_kept({{"source", dir / "x.csv"}, {"memory", "63"}}));
  CHECK(is_kept({{"source", dir / "x.csv"}, {"columns", "a"}, {"memory", "16"}}));
  CHECK_FALSE(is_kept({{"format", "synthetic"}}));
  write(dir / "x.npy", npy_of("(1000,)", values_of(counting_values(1000))));
  CHECK(is_kept({{"source", dir / "x.npy"}, {"memory", "4000"}}));
  CHECK_FALSE(is_kept({{"source", dir / "x.npy"}, {"memory", "3999"}}));
  const Keys wider{{"source", dir / "x.npy"}, {"cast", "data: f64"}, {"memory", "4000"}};
  CHECK(is_kept(wider));  // values are kept in the type of the file
}

TEST_CASE("kept values and batches that are read ahead fit together into the memory of the node") {
  const Scratch dir;
  write(dir / "x.npy", npy_of("(1000,)", values_of(counting_values(1000))));
  const auto kept = open_together({{"source", dir / "x.npy"}, {"memory", "10000"}}, 4).front();
  CHECK(kept->plan().memory * 4 + 4000 <= 10000);
  CHECK(kept->plan().memory > 200);
  const auto alone = [&](const std::string& memory, int ranks) {
    const auto keys = options({{"source", dir / "x.npy"}, {"memory", memory}});
    return data::open_dataset("train", keys, data::list_dataset("train", keys), {0, ranks}, 1, {.ranks = ranks});
  };
  CHECK(alone("16600", 4)->source()->is_resident());  // each of the four ranks keeps its own copy
  CHECK(alone("16600", 4)->plan().memory == 4150);
  CHECK_FALSE(alone("16200", 4)->source()->is_resident());
  CHECK(alone("8000", 1)->source()->is_resident());
  CHECK(alone("8000", 1)->plan().memory == 8000);
}

TEST_CASE("materialize keeps transformed values, on a single rank as well") {
  const Scratch dir;
  write(dir / "a-idx2-ubyte", idx_of_300());
  const Keys keys{{"source", dir / "a-idx2-ubyte"}, {"normalize", "images: 0.5 0.25"}};
  auto kept = keys;
  kept["materialize"] = "true";
  const auto plain = open(keys), dataset = open(kept);
  REQUIRE(dataset->source()->fields()[0].dtype == DType::f32);
  const auto samples = in_any_order(300);
  CHECK(gathered<float>(*dataset, 0, samples) == gathered<float>(*plain, 0, samples));
  CHECK(dataset->source()->is_resident());
  fs::remove(dir / "a-idx2-ubyte");
  CHECK(gathered<float>(*dataset, 0, samples) == gathered<float>(*plain, 0, samples));
}

TEST_CASE("values that cannot be materialized are refused before a run, with their size and the memory") {
  const Scratch dir;
  write(dir / "x.csv", "a,b\n1,one\n2,two\n");
  CHECK_THROWS_WITH(check({{"source", dir / "x.csv"}, {"materialize", "true"}}),
                    Contains("[data.train]") && Contains("train.ini:7") && Contains("b vary in length"));
  write(dir / "x.npy", npy_of("(1000,)", values_of(counting_values(1000))));
  Keys keys{{"source", dir / "x.npy"}, {"materialize", "true"}, {"cast", "data: f64"}, {"memory", "7999"}};
  CHECK_THROWS_WITH(check(keys), Contains("1000 samples of 8 bytes") && Contains("memory = 7999"));
  keys["memory"] = "8000";
  CHECK_NOTHROW(check(keys));
}

TEST_CASE("a damaged chunk is an error on each rank that reads it, and on no other") {
  const Scratch dir;
  make_h5(dir / "x.h5", [](hid_t file) {
    add_counting(file, "x", {4000, 200}, {.chunk = {1000, 200}, .gzip = 1, .fletcher = true});
  });
  const auto whole = read(dir / "x.h5");
  const auto ranks = open_together({{"source", dir / "x.h5"}});
  auto damaged = whole;
  damaged[whole.size() - 2000] ^= 1;  // in the last chunk
  write(dir / "x.h5", damaged);
  for (const auto& rank : ranks) {
    CHECK(gathered<std::int32_t>(*rank, 0, {1}).back() == 399);
    CHECK_THROWS_WITH(gathered<std::int32_t>(*rank, 0, {2, 3999}), Contains("x.h5") && Contains("3000"));
  }
  write(dir / "x.h5", whole);
  CHECK(gathered<std::int32_t>(*ranks[1], 0, {3999}).back() == 799999);
  CHECK(gathered<std::int32_t>(*ranks[0], 0, {3999}).back() == 799999);
}
