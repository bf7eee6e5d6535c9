#include <random>

#include <trainrt/error.hpp>

#include "unit/data/h5_support.hpp"

using namespace data_test;
using Catch::Contains;

namespace {

using Rows = std::vector<std::uint64_t>;

Rows random_rows(std::uint64_t rows, std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  Rows numbers(count);
  for (auto& number : numbers) number = random() % rows;
  return numbers;
}

/// Returns the rows with these numbers. `of`: number of all rows.
template <class T>
std::vector<T> rows_of(const std::vector<T>& all, const Rows& rows, std::uint64_t of) {
  std::vector<T> values;
  const auto length = static_cast<std::ptrdiff_t>(all.size() / of);
  for (const auto row : rows) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(row) * length;
    values.insert(values.end(), first, first + length);
  }
  return values;
}

/// Checks that several threads read random batches with the values that the HDF5 library reads.
template <class T>
void as_hdf5_reads(const std::string& path, const std::string& name, hid_t type,
                   std::map<std::string, std::string> section = {}) {
  INFO(name);
  section.insert({"source", path});
  section.insert({"fields", name});
  const auto dataset = open(section);
  const auto all = read_by_hdf5<T>(path, name, type);
  const auto size = dataset->source()->size();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (unsigned batch = 0; batch < 20; ++batch) try {
          const auto rows = random_rows(size, 1 + batch * 3, thread * 100 + batch);
          if (gathered<T>(*dataset, 0, rows) != rows_of(all, rows, size)) ++wrong;
        } catch (const Error&) {
          ++wrong;
        }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  Rows in_turn(size);
  std::iota(in_turn.begin(), in_turn.end(), 0);
  CHECK(gathered<T>(*dataset, 0, in_turn) == all);
}

}  // namespace

TEST_CASE("the datasets of an HDF5 file are fields with the values that the HDF5 library reads, in any order and thread") {
  const Scratch dir;
  const bool latest = GENERATE(false, true);
  const auto path = dir / "x.h5";
  const std::map<std::string, H5Make> kinds{
      {"contiguous", {}},
      {"compact", {.compact = true}},
      {"chunked", {.chunk = {7, 3, 4}}},
      {"whole_rows", {.chunk = {8, 5, 6}}},
      {"gzip", {.chunk = {7, 5, 6}, .gzip = 4}},
      {"shuffle", {.chunk = {7, 5, 6}, .shuffle = true}},
      {"shuffled_gzip", {.chunk = {7, 4, 5}, .gzip = 1, .shuffle = true}},
      {"checksummed", {.chunk = {7, 4, 5}, .fletcher = true}},
      {"checksummed_gzip", {.chunk = {7, 4, 5}, .gzip = 1, .shuffle = true, .fletcher = true}},
      {"scale_offset", {.chunk = {7, 4, 5}, .scale_offset = true}},
      {"one_chunk", {.chunk = {50, 5, 6}, .gzip = 1}},
      {"plain_edges", {.chunk = {7, 4, 5}, .gzip = 1, .edges_are_plain = true}},
      {"big_endian", {.type = H5T_STD_I32BE}},
      {"big_endian_chunks", {.type = H5T_STD_I32BE, .chunk = {7, 4, 5}, .gzip = 1, .shuffle = true}},
      {"never_written", {.is_written = false, .fill = 41}},
      {"never_written_chunks", {.chunk = {7, 4, 5}, .is_written = false, .fill = 42}}};
  make_h5(
      path,
      [&](hid_t file) {
        for (const auto& [name, how] : kinds) add_counting(file, name, {50, 5, 6}, how);
      },
      latest, latest ? 512 : 0);
  for (const auto& [name, how] : kinds)
    for (const std::string memory : {"0", "1 MiB"})
      as_hdf5_reads<std::int32_t>(path, name, H5T_NATIVE_INT, {{"memory", memory}});
  CHECK(open({{"source", path}})->source()->fields().size() == kinds.size());
}

TEST_CASE("a cache that is smaller than one chunk gives the right values") {
  const Scratch dir;
  const auto path = dir / "x.h5";
  make_h5(path, [](hid_t file) { add_counting(file, "x", {50, 6}, {.chunk = {7, 4}, .gzip = 1}); });
  as_hdf5_reads<std::int32_t>(path, "x", H5T_NATIVE_INT, {{"chunk_cache", "1"}, {"memory", "0"}});
}

TEST_CASE("a dataset of any DType and byte order is a field") {
  const Scratch dir;
  const auto path = dir / "x.hdf5";
  make_h5(path, [](hid_t file) {
    for (const auto& [name, type] : std::map<std::string, hid_t>{{"u8", H5T_STD_U8BE},
                                                                 {"i8", H5T_STD_I8LE},
                                                                 {"i16", H5T_STD_I16BE},
                                                                 {"i64", H5T_STD_I64BE},
                                                                 {"f32", H5T_IEEE_F32BE},
                                                                 {"f64", H5T_IEEE_F64LE}})
      add_counting(file, name, {20}, {.type = type});
    for (const auto dtype : {DType::f16, DType::bf16})
      add_counting(file, std::string(name_of(dtype)), {20}, {.type = io::h5_type(dtype)});
  });
  const auto dataset = open({{"source", path}});
  REQUIRE(dataset->source()->fields().size() == 8);
  for (const auto& field : dataset->source()->fields()) CHECK(name_of(field.dtype) == field.name);
  as_hdf5_reads<std::int16_t>(path, "i16", H5T_NATIVE_INT16);
  as_hdf5_reads<std::int64_t>(path, "i64", H5T_NATIVE_INT64);
  as_hdf5_reads<float>(path, "f32", H5T_NATIVE_FLOAT);
  as_hdf5_reads<double>(path, "f64", H5T_NATIVE_DOUBLE);
}

TEST_CASE("the keys group and fields choose the datasets of an HDF5 file") {
  const Scratch dir;
  const auto path = dir / "x.h5";
  make_h5(path, [](hid_t file) {
    add_counting(file, "train/images", {6, 2});
    add_counting(file, "train/more/labels", {6});
    add_counting(file, "test/images", {3, 2});
  });
  const auto names = [](const DatasetImpl& dataset) {
    std::vector<std::string> found;
    for (const auto& field : dataset.source()->fields()) found.push_back(field.name);
    return join(found);
  };
  CHECK(names(*open({{"source", path}, {"group", "/train"}})) == "images, more/labels");
  CHECK(names(*open({{"source", path}, {"group", "train"}, {"fields", "more/labels"}})) == "more/labels");
  both_say({{"source", path}}, "x.h5", "test/images [3, 2], train/images [6, 2], train/more/labels [6]");
  both_say({{"source", path}, {"fields", "train/image"}}, "dataset 'train/image' of", "x.h5");
  both_say({{"source", path}, {"group", "valid"}}, "x.h5", "valid");
  both_say({{"source", path}, {"group", "test"}, {"fields", "images, images"}}, "x.h5", "twice");
}

TEST_CASE("a dataset that cannot be a field is left out, or an error if the key fields names it") {
  const Scratch dir;
  const auto path = dir / "x.h5";
  make_h5(path, [](hid_t file) {
    add_counting(file, "x", {4, 2});
    add_counting(file, "wide", {4}, {.type = H5T_STD_U16LE});
    io::h5_write(file, "names", std::vector<std::string>{"a", "b", "c", "d"});
    H5Lcreate_soft("/x", file, "again", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("other.h5", "/x", file, "elsewhere", H5P_DEFAULT, H5P_DEFAULT);
  });
  CHECK(open({{"source", path}})->source()->fields().size() == 1);
  both_say({{"source", path}, {"fields", "x, wide"}}, "dataset 'wide' of", "its type is u16");
  both_say({{"source", path}, {"fields", "names"}}, "dataset 'names' of", "its type is string of variable length");
  both_say({{"source", path}, {"fields", "again"}}, "dataset 'again' of", "link");
  both_say({{"source", path}, {"fields", "elsewhere"}}, "dataset 'elsewhere' of", "link");
  const auto none = dir / "none.h5";
  make_h5(none, [](hid_t file) { io::h5_write(file, "names", std::vector<std::string>{"a"}); });
  both_say({{"source", none}}, "none.h5", "names (its type is string of variable length)");
}

TEST_CASE("an HDF5 file without samples is an error, and samples without values are read") {
  const Scratch dir;
  make_h5(dir / "none.h5", [](hid_t file) { add_counting(file, "x", {0, 3}); });
  both_say({{"source", dir / "none.h5"}}, "train", "no samples");
  make_h5(dir / "thin.h5", [](hid_t file) { add_counting(file, "x", {4, 0, 3}); });
  const auto dataset = open({{"source", dir / "thin.h5"}});
  CHECK(dataset->source()->size() == 4);
  CHECK(gathered<std::int32_t>(*dataset, 0, {3, 0}).empty());
}

TEST_CASE("several HDF5 files are read as one dataset") {
  const Scratch dir;
  for (int part = 0; part < 3; ++part)
    make_h5(dir / ("part" + std::to_string(part) + ".h5"), [&](hid_t file) {
      add_dataset(file, "x", {4, 2}, counting_values(8, part * 8), {.chunk = {3, 2}, .gzip = 1});
    });
  const auto dataset = open({{"source", dir / "part*.h5"}});
  REQUIRE(dataset->source()->size() == 12);
  CHECK(gathered<std::int32_t>(*dataset, 0, {11, 0, 5}) == std::vector<std::int32_t>{22, 23, 0, 1, 10, 11});
}
