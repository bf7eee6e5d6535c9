#include <trainrt/error.hpp>

#include "data/hdf5/h5_index.hpp"
#include "data/section/dataset_listing.hpp"
#include "data/section/identity.hpp"
#include "unit/data/h5_support.hpp"

using namespace data_test;
using Catch::Contains;
using data::H5Piece;

namespace {

struct Part {
  std::vector<hsize_t> start, count;  ///< box in the virtual dataset
  std::string file, dataset;
  std::vector<hsize_t> source;           ///< shape of the source dataset
  std::vector<hsize_t> from = {}, size;  ///< box in the source; empty: the complete source
};

void add_virtual(hid_t file, const std::string& name, const std::vector<hsize_t>& shape, const std::vector<Part>& parts,
                 int fill = 0) {
  const auto check = [](herr_t result) { io::h5_check(result, "test"); };
  const auto creation = h5_creation({.fill = fill});
  const auto space_of = [](const std::vector<hsize_t>& extents) {
    return H5Id(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose, "test");
  };
  const auto whole = space_of(shape);
  for (const auto& part : parts) {
    const auto to = space_of(shape), from = space_of(part.source);
    check(H5Sselect_hyperslab(to, H5S_SELECT_SET, part.start.data(), nullptr, part.count.data(), nullptr));
    if (!part.from.empty())
      check(H5Sselect_hyperslab(from, H5S_SELECT_SET, part.from.data(), nullptr, part.size.data(), nullptr));
    check(H5Pset_virtual(creation, to, part.file.c_str(), part.dataset.c_str(), from));
  }
  const H5Id dataset(H5Dcreate2(file, name.c_str(), H5T_STD_I32LE, whole, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose,
                     "test");
}

/// Returns the pieces of the first field: consecutive rows that are stored in the same dataset or file.
std::vector<H5Piece> pieces_of(const std::map<std::string, std::string>& section) {
  const auto listing = data::list_dataset("train", options(section));
  return data::unpacked<data::H5Index>(listing.entries.front().content.index).fields.front().pieces;
}

std::vector<H5Piece::Kind> kinds_of(const std::map<std::string, std::string>& section) {
  std::vector<H5Piece::Kind> kinds;
  for (const auto& piece : pieces_of(section)) kinds.push_back(piece.kind);
  return kinds;
}

void reads_as_hdf5(const std::string& path) {
  const auto dataset = open({{"source", path}, {"memory", "0"}});
  const auto all = read_by_hdf5<std::int32_t>(path, "x", H5T_NATIVE_INT);
  const auto samples = dataset->source()->size();
  const auto length = all.size() / samples;
  std::vector<std::uint64_t> backwards;
  std::vector<std::int32_t> expected;
  for (auto row = samples; row-- > 0;) {
    backwards.push_back(row);
    expected.insert(expected.end(), all.begin() + static_cast<std::ptrdiff_t>(row * length),
                    all.begin() + static_cast<std::ptrdiff_t>((row + 1) * length));
  }
  CHECK(gathered<std::int32_t>(*dataset, 0, backwards) == expected);
}

/// Creates the files a.h5 to d.h5, each with a dataset x of shape [5, 2, 3]: plain in a, big-endian in b, compressed with
/// gzip in c, and never written in d (fill value 7).
void make_sources(const Scratch& dir) {
  const std::vector<H5Make> kinds{
      {}, {.type = H5T_STD_I32BE}, {.chunk = {2, 2, 2}, .gzip = 1}, {.is_written = false, .fill = 7}};
  for (std::size_t i = 0; i < kinds.size(); ++i)
    make_h5(dir / (std::string(1, static_cast<char>('a' + i)) + ".h5"), [&](hid_t file) {
      add_dataset(file, "x", {5, 2, 3}, counting_values(30, static_cast<std::int32_t>(i) * 100), kinds[i]);
    });
}

}  // namespace

TEST_CASE("a virtual dataset of rows of several files is read without the HDF5 library") {
  const Scratch dir;
  make_sources(dir);
  const auto path = dir / "x.h5";
  const std::vector<hsize_t> source{5, 2, 3};
  make_h5(path, [&](hid_t file) {
    add_virtual(file, "x", {22, 2, 3},
                {{{17, 0, 0}, {3, 2, 3}, "a.h5", "x", source, {1, 0, 0}, {3, 2, 3}},
                 {{0, 0, 0}, {5, 2, 3}, "a.h5", "x", source, {}, {}},
                 {{5, 0, 0}, {5, 2, 3}, "./b.h5", "/x", source, {}, {}},
                 {{10, 0, 0}, {4, 2, 3}, dir / "c.h5", "x", source, {1, 0, 0}, {4, 2, 3}},
                 {{14, 0, 0}, {2, 2, 3}, "d.h5", "x", source, {0, 0, 0}, {2, 2, 3}}},
                9);
  });
  using Kind = H5Piece::Kind;
  CHECK(kinds_of({{"source", path}}) ==
        std::vector{Kind::file, Kind::file, Kind::chunks, Kind::missing, Kind::missing, Kind::file, Kind::missing});
  reads_as_hdf5(path);
}

TEST_CASE("a virtual dataset of files with one sample, or of virtual datasets, is read without the HDF5 library") {
  const Scratch dir;
  fs::create_directory(dir / "sub");
  for (int i = 0; i < 3; ++i)
    make_h5(dir / ("sub/one" + std::to_string(i) + ".h5"), [&](hid_t file) {
      add_dataset(file, "x", {2, 3}, counting_values(6, i * 10), i == 1 ? H5Make{.chunk = {1, 2}, .gzip = 1} : H5Make{});
    });
  const auto inner = dir / "sub/inner.h5", outer = dir / "outer.h5";
  make_h5(inner, [](hid_t file) {
    std::vector<Part> parts;
    for (hsize_t i = 0; i < 3; ++i)
      parts.push_back({{i, 0, 0}, {1, 2, 3}, "one" + std::to_string(i) + ".h5", "x", {2, 3}, {}, {}});
    add_virtual(file, "x", {3, 2, 3}, parts);
  });
  make_h5(outer, [](hid_t file) {
    add_virtual(file, "x", {2, 2, 3}, {{{0, 0, 0}, {2, 2, 3}, "sub/inner.h5", "x", {3, 2, 3}, {1, 0, 0}, {2, 2, 3}}});
  });
  using Kind = H5Piece::Kind;
  CHECK(kinds_of({{"source", inner}}) == std::vector{Kind::file, Kind::chunks, Kind::file});
  CHECK(kinds_of({{"source", outer}}) == std::vector{Kind::chunks, Kind::file});
  reads_as_hdf5(inner);
  reads_as_hdf5(outer);
}

TEST_CASE("a virtual dataset with rows that are not contiguous is read by the HDF5 library") {
  const Scratch dir;
  make_sources(dir);
  const auto path = dir / "x.h5";
  make_h5(path, [](hid_t file) {
    add_virtual(
        file, "x", {5, 4, 3},
        {{{0, 0, 0}, {5, 2, 3}, "a.h5", "x", {5, 2, 3}, {}, {}}, {{0, 2, 0}, {5, 2, 3}, "c.h5", "x", {5, 2, 3}, {}, {}}});
  });
  CHECK(kinds_of({{"source", path}}) == std::vector{H5Piece::Kind::library});
  reads_as_hdf5(path);
}

TEST_CASE("a missing source of a virtual dataset is an error") {
  const Scratch dir;
  const auto path = dir / "x.h5";
  make_h5(path, [](hid_t file) { add_virtual(file, "x", {5, 2}, {{{0, 0}, {5, 2}, "gone.h5", "x", {5, 2}, {}, {}}}); });
  both_say({{"source", path}}, "dataset 'x' of", "gone.h5' does not exist");
}

TEST_CASE("an HDF5 file that refers to files outside of its folder is an error") {
  const Scratch dir;
  fs::create_directory(dir / "inside");
  make_h5(dir / "a.h5", [](hid_t file) { add_counting(file, "x", {5, 2}); });
  const auto path = dir / "inside/x.h5";
  for (const std::string& name : {std::string("../a.h5"), std::string("down/../../a.h5"), dir / "a.h5"}) {
    INFO(name);
    make_h5(path, [&](hid_t file) { add_virtual(file, "x", {5, 2}, {{{0, 0}, {5, 2}, name, "x", {5, 2}, {}, {}}}); });
    both_say({{"source", path}}, "inside/x.h5", "which is not in the folder of this file");
    make_h5(path, [&](hid_t file) {  // HDF5 would read these
      add_virtual(file, "x", {5, 4},
                  {{{0, 0}, {5, 2}, name, "x", {5, 2}, {}, {}}, {{0, 2}, {5, 2}, name, "x", {5, 2}, {}, {}}});
    });
    both_say({{"source", path}}, "inside/x.h5", "which is not in the folder of this file");
  }
}

namespace {

void add_external(hid_t file, const std::vector<std::pair<std::string, hsize_t>>& parts) {
  const auto creation = h5_creation({});
  for (const auto& [name, bytes] : parts) io::h5_check(H5Pset_external(creation, name.c_str(), 4, bytes), "test");
  const hsize_t shape[] = {6, 2};
  const H5Id space(H5Screate_simple(2, shape, nullptr), H5Sclose, "test");
  const H5Id dataset(H5Dcreate2(file, "x", H5T_STD_I32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose, "test");
}

std::string bytes_of_values(const std::vector<std::int32_t>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int32_t)};
}

}  // namespace

TEST_CASE("external storage in the folder of an HDF5 file is read, and elsewhere is an error") {
  const Scratch dir;
  const auto path = dir / "x.h5";
  write(dir / "first.raw", "head" + bytes_of_values(counting_values(8)));
  write(dir / "second.raw", "head" + bytes_of_values(counting_values(4, 8)));
  const auto values = [&] { return gathered<std::int32_t>(*open({{"source", path}, {"memory", "0"}}), 0, {5, 0, 4, 3}); };
  const std::vector<std::int32_t> expected{10, 11, 0, 1, 8, 9, 6, 7};
  make_h5(path, [](hid_t file) { add_external(file, {{"first.raw", 32}, {"second.raw", 16}}); });
  CHECK(kinds_of({{"source", path}}) == std::vector{H5Piece::Kind::file, H5Piece::Kind::file});
  CHECK(values() == expected);
  write(dir / "third.raw", "head" + bytes_of_values(counting_values(7)));  // a row is cut
  write(dir / "fourth.raw", "head" + bytes_of_values(counting_values(5, 7)));
  make_h5(path, [](hid_t file) { add_external(file, {{"third.raw", 28}, {"fourth.raw", 20}}); });
  CHECK(kinds_of({{"source", path}}) == std::vector{H5Piece::Kind::library});
  CHECK(values() == expected);
  make_h5(path, [](hid_t file) { add_external(file, {{"first.raw", 32}, {"../second.raw", 16}}); });
  both_say({{"source", path}}, "x.h5", "which is not in the folder of this file");
  make_h5(path, [](hid_t file) { add_external(file, {{"third.raw", 28}, {"../fourth.raw", 20}}); });  // HDF5 would read it
  both_say({{"source", path}}, "x.h5", "which is not in the folder of this file");
  write(dir / "second.raw", "head");
  make_h5(path, [](hid_t file) { add_external(file, {{"first.raw", 32}, {"second.raw", 16}}); });
  both_say({{"source", path}}, "second.raw", "is truncated");
}

TEST_CASE("a source of a virtual dataset that has changed is named in the difference of a dataset") {
  const Scratch dir;
  make_sources(dir);
  const auto path = dir / "x.h5";
  make_h5(path, [](hid_t file) {
    add_virtual(
        file, "x", {10, 2, 3},
        {{{0, 0, 0}, {5, 2, 3}, "a.h5", "x", {5, 2, 3}, {}, {}}, {{5, 0, 0}, {5, 2, 3}, "b.h5", "x", {5, 2, 3}, {}, {}}});
  });
  const auto files = [&] {
    const auto listing = data::listing_of(data::bytes_of(data::list_dataset("train", options({{"source", path}}))));
    return data::files_text_of(listing);
  };
  const auto before = files();
  CHECK(files() == before);
  make_h5(dir / "b.h5", [](hid_t file) { add_dataset(file, "x", {6, 2, 3}, counting_values(36)); });
  CHECK_THAT(data::difference_of_files(before, files()).value_or("none"),
             Contains("the size or the first bytes of the file b.h5 have changed"));
}
