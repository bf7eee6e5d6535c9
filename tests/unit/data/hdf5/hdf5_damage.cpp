#include <dlfcn.h>

#include <trainrt/error.hpp>

#include "data/hdf5/h5_index.hpp"
#include "data/section/dataset_listing.hpp"
#include "support/cpp/skip.hpp"
#include "unit/data/h5_support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

data::H5Index index_of(const std::string& path) {
  const auto listing = data::list_dataset("train", options({{"source", path}}));
  return data::unpacked<data::H5Index>(listing.entries.front().content.index);
}

void overwrite(const std::string& path, std::uint64_t offset, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file << bytes;
}

/// Returns a number as HDF5 stores it.
std::string as_u64(std::uint64_t number) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &number, 8);
  return bytes;
}

/// Replaces one text in a file by another of the same length.
void replace_in(const std::string& path, const std::string& old, const std::string& with) {
  const auto bytes = read(path);
  const auto at = bytes.find(old);
  REQUIRE(at != std::string::npos);
  overwrite(path, at, with);
}

}  // namespace

TEST_CASE("a truncated HDF5 file, or another file, is an error that names it") {
  const Scratch dir;
  write(dir / "text.h5", "images,labels\n");
  both_say({{"source", dir / "text.h5"}}, "text.h5", "cannot be read");
  write(dir / "empty.h5", "");
  both_say({{"source", dir / "empty.h5"}}, "empty.h5", "cannot be read");
  make_h5(dir / "whole.h5", [](hid_t file) {
    add_counting(file, "x", {40, 30});
    add_counting(file, "y", {40, 30}, {.chunk = {7, 7}, .gzip = 1});
  });
  const auto whole = read(dir / "whole.h5");
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    write(dir / "cut.h5", whole.substr(0, length));
    both_say({{"source", dir / "cut.h5"}}, "cut.h5", "cannot be read");
  }
}

TEST_CASE("an HDF5 file that is truncated after it was listed is an error") {
  const Scratch dir;
  const auto path = dir / "x.h5";
  make_h5(path, [](hid_t file) { add_counting(file, "x", {40, 30}, {.chunk = {7, 7}, .gzip = 1}); });
  const auto dataset = open({{"source", path}, {"memory", "0"}});
  gathered<std::int32_t>(*dataset, 0, {0});
  fs::resize_file(path, fs::file_size(path) / 2);
  std::vector<std::uint64_t> all(40);
  std::iota(all.begin(), all.end(), 0);
  CHECK_THROWS_WITH(gathered<std::int32_t>(*dataset, 0, all), Contains("x.h5") && Contains("was changed"));
}

TEST_CASE("a damaged chunk is an error that names it, in all threads that read it") {
  const Scratch dir;
  const auto path = dir / "x.h5";
  make_h5(path, [](hid_t file) { add_counting(file, "x", {40, 30}, {.chunk = {10, 30}, .gzip = 1, .shuffle = true}); });
  const auto chunk = index_of(path).tables.front().chunks.at(2);
  REQUIRE(chunk.bytes > 20);
  overwrite(path, chunk.address + 10, "damaged!");
  const auto dataset = open({{"source", path}, {"memory", "0"}});
  std::atomic<int> reported = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      try {
        gathered<std::int32_t>(*dataset, 0, {25, 3});
      } catch (const Error& error) {
        const std::string what = error.what();
        if (what.find("the chunk at [20, 0] of dataset 'x' of '" + path) != std::string::npos) ++reported;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(reported == 4);
  CHECK(gathered<std::int32_t>(*dataset, 0, {30})[0] == 900);
}

TEST_CASE("a chunk that decompresses to the wrong size is an error") {
  const Scratch dir;
  const auto path = dir / "x.h5";
  for (const std::size_t rows : {9, 11}) {
    const H5Make how{.chunk = {rows, 4}, .gzip = 1}, real{.chunk = {10, 4}, .gzip = 1};
    make_h5(dir / "other.h5", [&](hid_t file) { add_counting(file, "x", {rows, 4}, how); });
    const auto other = index_of(dir / "other.h5").tables.front().chunks.front();
    const auto bytes = read(dir / "other.h5").substr(other.address, other.bytes);
    make_h5(path, [&](hid_t file) {
      add_counting(file, "x", {10, 4}, {.chunk = {10, 4}, .gzip = 1, .is_written = false});
      const H5Id dataset(H5Dopen2(file, "x", H5P_DEFAULT), H5Dclose, "test");
      const hsize_t at[] = {0, 0};
      io::h5_check(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, at, bytes.size(), bytes.data()), "test");
    });
    CHECK_THROWS_WITH(gathered<std::int32_t>(*open({{"source", path}, {"memory", "0"}}), 0, {0}),
                      Contains("dataset 'x'") && Contains("x.h5") && Contains(rows == 9 ? "fewer bytes" : "more bytes"));
  }
}

TEST_CASE("a chunk of any size with a wrong checksum is an error") {
  const Scratch dir;
  const auto path = dir / "x.h5";
  for (const std::size_t length : {1, 719, 721, 3000}) {
    make_h5(path, [&](hid_t file) {
      add_counting(file, "x", {length}, {.type = H5T_STD_I8LE, .chunk = {length}, .fletcher = true});
    });
    CHECK(gathered<std::int8_t>(*open({{"source", path}, {"memory", "0"}}), 0, {0})[0] == 0);
    const auto chunk = index_of(path).tables.front().chunks.front();
    REQUIRE(chunk.bytes == length + 4);
    overwrite(path, chunk.address + length / 2, "\x55");
    CHECK_THROWS_WITH(gathered<std::int8_t>(*open({{"source", path}, {"memory", "0"}}), 0, {0}),
                      Contains("its checksum is wrong"));
  }
}

TEST_CASE("a filter that a chunk skips is not reversed") {
  const Scratch dir;
  const auto path = dir / "x.h5";
  const auto plain = counting_values(40, 5);
  make_h5(path, [&](hid_t file) {
    add_counting(file, "x", {20, 4}, {.chunk = {10, 4}, .gzip = 1, .shuffle = true});
    const H5Id dataset(H5Dopen2(file, "x", H5P_DEFAULT), H5Dclose, "test");
    const hsize_t at[] = {10, 0};
    io::h5_check(H5Dwrite_chunk(dataset, H5P_DEFAULT, 3, at, plain.size() * 4, plain.data()), "test");
  });
  CHECK(gathered<std::int32_t>(*open({{"source", path}, {"memory", "0"}}), 0, {10, 0}) ==
        std::vector<std::int32_t>{5, 6, 7, 8, 0, 1, 2, 3});
}

TEST_CASE("a header that declares more values than the file can contain is an error") {
  const Scratch dir;
  const auto path = dir / "x.h5";
  make_h5(path, [](hid_t file) { add_counting(file, "x", {40, 30}); });
  // The header has the extents twice, as size and maximum size. HDF5 1.14 rejects a size above the maximum.
  const auto twice = [](std::uint64_t rows, std::uint64_t columns) {
    const auto extents = as_u64(rows) + as_u64(columns);
    return extents + extents;
  };
  replace_in(path, twice(40, 30), twice(std::uint64_t{1} << 40, 30));
  constexpr bool hdf5_refuses_it = H5_VERSION_GE(1, 14, 0);
  both_say({{"source", path}}, hdf5_refuses_it ? "x.h5' cannot be read: cannot open 'x'" : "dataset 'x' of",
           hdf5_refuses_it ? "invalid dataset size" : "its shape requires");
  replace_in(path, twice(std::uint64_t{1} << 40, 30), twice(UINT64_MAX / 2, UINT64_MAX / 2));
  both_say({{"source", path}}, "dataset 'x' of", "more than 2^60 bytes");
  make_h5(path, [](hid_t file) {  // a sample of 4 PiB that was never written
    add_dataset(file, "x", {4, std::size_t{1} << 50}, {}, {.chunk = {1, 1024}, .is_written = false});
  });
  CHECK_THROWS_WITH(open({{"source", path}, {"memory", "0"}}), Contains("a sample of dataset 'x'") && Contains("memory"));
}

TEST_CASE("a chunk, a sample or missing values above max_expanded_bytes are an error that names the dataset") {
  const Scratch dir;
  const auto path = dir / "x.h5";
  const auto limited = [&](const std::string& limit) {
    return std::map<std::string, std::string>{{"source", path}, {"max_expanded_bytes", limit}};
  };
  make_h5(path, [](hid_t file) {
    add_dataset(file, "x", {1000, 1000}, std::vector<std::int32_t>(1'000'000), {.chunk = {500, 1000}, .gzip = 9});
  });
  CHECK(fs::file_size(path) < 10'000);
  CHECK(open(limited("2 MB"))->source()->size() == 1000);
  both_say(limited("1 MB"), "a chunk [500, 1000] of dataset 'x' of '" + path, "max_expanded_bytes = 1000000");
  both_say(limited("2 kB"), "a sample of dataset 'x' of '" + path, "max_expanded_bytes = 2000");
  for (const std::size_t rows : {std::size_t{1} << 20, std::size_t{1} << 40}) {  // with and without a list of chunks
    make_h5(path, [&](hid_t file) {
      add_dataset(file, "x", {rows, 1024}, {}, {.chunk = {256, 1024}, .gzip = 1, .is_written = false});
    });
    both_say({{"source", path}}, "dataset 'x' of '" + path, "values that the file does not store");
  }
}

TEST_CASE("datasets with filters of Debian's plug-ins are read in any order and by several threads") {
  const auto lacks = [](int filter) {
    const auto lock = io::h5_lock();
    const bool lacking = H5Zfilter_avail(filter) <= 0;
    H5Eclear2(H5E_DEFAULT);
    return lacking;
  };
  // Keeps blosc loaded until the process ends. AddressSanitizer reports the buffers of an unloaded library as leaks.
  ::dlopen("libblosc.so.1", RTLD_LAZY | RTLD_NODELETE);
  const Scratch dir;
  for (const auto& [filter, name] : {std::pair{307, "bzip2"}, {32001, "blosc"}, {32004, "lz4"}}) {
    CAPTURE(name);
    if (lacks(filter)) {
      test::skip(std::string("HDF5 lacks the filter ") + name);
      continue;
    }
    const auto path = dir / (std::string(name) + ".h5");
    auto numbers = counting_values(100 * 40);
    for (auto& number : numbers) number /= 40;  // the number of the sample
    make_h5(path, [&](hid_t file) { add_dataset(file, "x", {100, 40}, numbers, {.chunk = {7, 30}, .filter = filter}); });
    CHECK(fs::file_size(path) < 16000);  // otherwise the filter has not compressed anything
    for (const std::string memory : {"0", "1 MiB"}) {
      const auto dataset = open({{"source", path}, {"memory", memory}, {"shuffle", "true"}});
      for (const auto& batch : Dataset(dataset).epoch(0).batches(8, Remainder::uneven))
        for (std::size_t i = 0; i < batch.size(); ++i)
          CHECK(static_cast<const std::int32_t*>(batch.field("x").data)[i * 40 + 39] ==
                static_cast<std::int32_t>(batch.indices()[i]));
    }
  }
}

TEST_CASE("a filter that HDF5 lacks is an error that names the filter and its Debian package") {
  const Scratch dir;
  const auto path = dir / "x.h5";
  make_h5(path, [](hid_t file) {
    const auto creation = h5_creation({.chunk = {10}});
    io::h5_check(H5Pset_filter(creation, 32013, H5Z_FLAG_OPTIONAL, 0, nullptr), "test");
    const hsize_t extent = 10;
    const H5Id space(H5Screate_simple(1, &extent, nullptr), H5Sclose, "test");
    const H5Id dataset(H5Dcreate2(file, "x", H5T_STD_U8LE, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose, "test");
    const hsize_t at = 0;
    io::h5_check(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &at, 4, "data"), "test");
  });
  if (H5Zfilter_avail(32013) > 0) return test::skip("this HDF5 has the filter zfp");
  both_say({{"source", path}}, "dataset 'x' of", "zfp (HDF5 filter 32013)");
  both_say({{"source", path}}, "x.h5", "hdf5-filter-plugin-zfp-serial");
}
