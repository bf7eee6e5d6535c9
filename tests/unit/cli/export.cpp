#include <minizip/unzip.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "checkpoint/load/piece_reader.hpp"
#include "cli/checkpoints/exporter.hpp"
#include "cli/checkpoints/select_entries.hpp"
#include "core/small_floats.hpp"
#include "io/files/file.hpp"
#include "io/hdf5/h5_types.hpp"
#include "io/hdf5/untrusted/h5_open.hpp"
#include "unit/checkpoint/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using namespace trainrt::cli;
namespace fs = std::filesystem;

namespace {

constexpr int writers = 3;

/// Exports a checkpoint with every dtype in every placement; with `rank`, the per_rank tensors of this rank.
class Exported {
 public:
  explicit Exported(const std::string& name, const std::vector<std::string>& patterns = {}, std::optional<int> rank = {})
      : path_(run_ / name), rank_(rank) {
    save_on(writers, every_kind(), run_.path(), 0, 1);
    notes = write(path_, patterns);
  }
  /// Exports the same checkpoint to another file and returns its path.
  std::string again(const std::string& name, const std::vector<std::string>& patterns) const {
    write(run_ / name, patterns);
    return run_ / name;
  }
  const std::string& path() const { return path_; }
  std::vector<std::string> notes;

 private:
  std::vector<std::string> write(const std::string& path, const std::vector<std::string>& patterns) const {
    const checkpoint::PieceReader reader(run_ / "checkpoint_000000", rank_);
    const auto selected = select_entries(reader, patterns);
    AtomicFile file(path, false);
    auto notes_of_export = find_exporter(path)->write(ExportSource(reader, selected.tensors, selected.values, {}), file);
    file.commit();
    return notes_of_export;
  }

  Scratch run_;
  std::string path_;
  std::optional<int> rank_;
};

/// Returns all bytes of an exported tensor.
std::string expected_bytes(const Spec& spec) {
  if (spec.placement != Placement::per_rank) return whole_bytes(spec, 1, 0);
  std::string bytes;
  for (int rank = 0; rank < writers; ++rank) bytes += whole_bytes(spec, 1, rank);
  return bytes;
}

Shape expected_shape(const Spec& spec) {
  auto shape = spec.shape;
  if (spec.placement == Placement::per_rank) shape.insert(shape.begin(), writers);
  return shape;
}

/// Returns the entries of a zip archive, and checks that they are not compressed.
std::map<std::string, std::string> unzip(const std::string& path) {
  std::map<std::string, std::string> entries;
  auto* zip = unzOpen64(path.c_str());
  REQUIRE(zip != nullptr);
  for (int more = unzGoToFirstFile(zip); more == UNZ_OK; more = unzGoToNextFile(zip)) {
    std::string name(1000, '\0');
    unz_file_info64 info{};
    unzGetCurrentFileInfo64(zip, &info, name.data(), name.size(), nullptr, 0, nullptr, 0);
    CHECK(info.compression_method == 0);
    std::string bytes(info.uncompressed_size, '\0');
    unzOpenCurrentFile(zip);
    CHECK(unzReadCurrentFile(zip, bytes.data(), static_cast<unsigned>(bytes.size())) == static_cast<int>(bytes.size()));
    CHECK(unzCloseCurrentFile(zip) == UNZ_OK);  // checks the CRC
    entries[name.c_str()] = bytes;
  }
  unzClose(zip);
  return entries;
}

std::string body_of_npy(const std::string& npy) {
  REQUIRE(npy.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  const auto header = static_cast<unsigned char>(npy[8]) + 256U * static_cast<unsigned char>(npy[9]);
  CHECK((10 + header) % 64 == 0);
  return npy.substr(10 + header);
}

float decoded(DType dtype, const std::string& bytes, std::size_t i) {
  if (dtype == DType::f8e4m3) return from_f8e4m3(static_cast<std::uint8_t>(bytes[i]));
  if (dtype == DType::f8e5m2) return from_f8e5m2(static_cast<std::uint8_t>(bytes[i]));
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes.data() + 2 * i, 2);
  return from_bf16(bits);
}

}  // namespace

TEST_CASE("an HDF5 export has the exact values of every dtype in contiguous datasets") {
  const Exported exported("all.h5");
  const auto lock = io::h5_lock();
  const auto file = io::h5_open(exported.path());
  for (const auto& spec : every_kind()) {
    INFO(spec.name);
    io::H5Id dataset(H5Dopen2(file, spec.name.c_str(), H5P_DEFAULT), H5Dclose, "open");
    io::H5Id how(H5Dget_create_plist(dataset), H5Pclose, "look");
    CHECK(H5Pget_layout(how) == H5D_CONTIGUOUS);
    CHECK(io::h5_dataset_type(dataset) == name_of(spec.dtype));
    CHECK(io::h5_dataset_shape(dataset) == expected_shape(spec));
    const auto expected = expected_bytes(spec);
    std::string found(expected.size(), '?');
    if (!found.empty())
      io::h5_check(H5Dread(dataset, io::h5_type(spec.dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()), "read");
    CHECK((found == expected));
  }
  Model model({}, 0, 1);
  model.fill(1);
  io::H5Id steps(H5Dopen2(file, "steps", H5P_DEFAULT), H5Dclose, "open");
  std::int64_t found = 0;
  io::h5_check(H5Dread(steps, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &found), "read");
  CHECK(found == model.steps);
}

TEST_CASE("an export of one rank has its per_rank tensors without an additional axis") {
  const Exported exported("rank.safetensors", {}, 1);
  const auto bytes = io::read_file(exported.path());
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const auto header = nlohmann::ordered_json::parse(bytes.substr(8, length));
  const auto data = bytes.substr(8 + length);
  for (const auto& spec : every_kind()) {
    INFO(spec.name);
    const auto& item = header.at(spec.name);
    CHECK(item["shape"].get<Shape>() == spec.shape);
    const std::uint64_t from = item["data_offsets"][0];
    const std::uint64_t to = item["data_offsets"][1];
    CHECK((data.substr(from, to - from) == whole_bytes(spec, 1, spec.placement == Placement::per_rank ? 1 : 0)));
  }
  CHECK_THAT(error_of([] { const Exported other("rank.npz", {}, writers); }),
             Catch::Contains("no tensors of rank 3: it was saved by ranks 0 to 2"));
}

TEST_CASE("a safetensors export keeps the rules of the format and has the exact values of every dtype") {
  const Exported exported("all.safetensors");
  const auto bytes = io::read_file(exported.path());
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  CHECK(length % 8 == 0);
  CHECK(bytes[8] == '{');
  const auto header = nlohmann::ordered_json::parse(bytes.substr(8, length));
  const auto data = bytes.substr(8 + length);
  CHECK(header["__metadata__"]["format"] == "pt");
  for (const auto& [key, text] : header["__metadata__"].items()) CHECK(text.is_string());
  std::uint64_t end = 0;  // the tensors follow each other without gaps or overlaps, in the order of the header
  for (const auto& [name, item] : header.items()) {
    if (name == "__metadata__") continue;
    CHECK(item["data_offsets"][0] == end);
    end = item["data_offsets"][1];
  }
  CHECK(end == data.size());
  for (const auto& spec : every_kind()) {
    INFO(spec.name);
    const auto& item = header.at(spec.name);
    CHECK(item["shape"].get<Shape>() == expected_shape(spec));
    const std::uint64_t from = item["data_offsets"][0];
    const std::uint64_t to = item["data_offsets"][1];
    CHECK(from % size_of(spec.dtype) == 0);
    CHECK((data.substr(from, to - from) == expected_bytes(spec)));
  }
  CHECK(header["whole/bf16"]["dtype"] == "BF16");
  CHECK(header["whole/f8e4m3"]["dtype"] == "F8_E4M3");
  CHECK(header["split/f8e5m2"]["dtype"] == "F8_E5M2");
  CHECK(header["own/bool"]["dtype"] == "BOOL");
  CHECK(header["epoch"]["shape"].empty());
  CHECK(header["epoch"]["dtype"] == "I64");
}

TEST_CASE("an npz export has the values of every dtype, as float32 if NumPy lacks the type") {
  const Exported exported("all.npz");
  REQUIRE(exported.notes.size() == 1);
  CHECK_THAT(exported.notes[0], Catch::Contains("bf16") && Catch::Contains("f8e4m3") && Catch::Contains("f8e5m2"));
  auto entries = unzip(exported.path());
  for (const auto& spec : every_kind()) {
    INFO(spec.name);
    REQUIRE(entries.contains(spec.name + ".npy"));
    const auto body = body_of_npy(entries[spec.name + ".npy"]);
    const auto expected = expected_bytes(spec);
    if (spec.dtype != DType::bf16 && spec.dtype != DType::f8e4m3 && spec.dtype != DType::f8e5m2) {
      CHECK((body == expected));
      continue;
    }
    const auto count = static_cast<std::size_t>(element_count(expected_shape(spec)));
    REQUIRE(body.size() == count * sizeof(float));
    bool same = true;
    for (std::size_t i = 0; i < count; ++i) {
      float found = 0;
      std::memcpy(&found, body.data() + i * sizeof found, sizeof found);
      const auto wanted = decoded(spec.dtype, expected, i);
      same =
          same && (std::isnan(wanted) ? std::isnan(found) : found == wanted && std::signbit(found) == std::signbit(wanted));
    }
    CHECK(same);
  }
  CHECK(Exported("other.npz", {"whole/f32"}).notes.empty());
}

TEST_CASE("two exports of a checkpoint have equal bytes") {
  for (const auto* name : {"a.h5", "a.safetensors", "a.npz"}) {
    INFO(name);
    const std::vector<std::string> patterns = {"whole/*", "epoch"};
    const Exported first(name, patterns);
    const auto second = first.again(std::string("again-") + name, patterns);
    CHECK((io::read_file(first.path()) == io::read_file(second)));
  }
}

TEST_CASE("a pattern without a match is an error that names the nearest tensor") {
  CHECK_THROWS_WITH(Exported("a.npz", {"whole/f31"}),
                    Catch::Contains("whole/f31") && Catch::Contains("did you mean 'whole/f32'"));
}
