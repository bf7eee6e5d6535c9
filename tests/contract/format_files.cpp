// Small writers of all data formats, for the contract tests.
#include "contract/format_files.hpp"

#include <hdf5.h>
#include <minizip/zip.h>
#ifdef TRAINRT_SQLITE
#include <sqlite3.h>
#endif

#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "data/tables/arrow_loader.hpp"
#include "support/cpp/image_bytes.hpp"
#include "support/cpp/tar_bytes.hpp"
#include "unit/data/h5_support.hpp"
#include "unit/data/npy_bytes.hpp"

namespace contract {

namespace {

using trainrt::DType;
using trainrt::test::Scratch;
using Keys = std::map<std::string, std::string>;

WrittenDataset written(const Scratch& folder, const std::string& name, const std::string& bytes, Keys keys = {}) {
  data_test::write(folder / name, bytes);
  keys["source"] = folder / name;
  return {keys, folder / name};
}

/// Returns the values of all samples as one text. Each value is between `before` and `after`; NaN is written as `missing`.
std::string lines(std::size_t samples, const std::string& before, const std::string& missing, const std::string& after) {
  std::string text;
  for (const auto value : sample_values(samples))
    text += before + (std::isnan(value) ? missing : fmt::format("{}", value)) + after;
  return text;
}

std::string npy(std::size_t samples) {
  return data_test::npy_bytes(fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({},)}}", samples),
                              data_test::values_of(sample_values(samples)));
}

WrittenDataset write_csv(const Scratch& folder, std::size_t samples) {
  return written(folder, "data.csv", "x,word\n" + lines(samples, "", "nan", ",a word\n"));
}

WrittenDataset write_jsonl(const Scratch& folder, std::size_t samples) {
  return written(folder, "data.jsonl",
                 lines(samples, R"({"x": )", "null",
                       R"(, "word": "a"})"
                       "\n"));
}

WrittenDataset write_text(const Scratch& folder, std::size_t samples) {
  return written(folder, "data.txt", lines(samples, "line ", "nan", "\n"));
}

WrittenDataset write_npy(const Scratch& folder, std::size_t samples) { return written(folder, "data.npy", npy(samples)); }

WrittenDataset write_npz(const Scratch& folder, std::size_t samples) {
  const auto path = folder / "data.npz", array = npy(samples);
  auto* zip = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  zip_fileinfo info{};
  REQUIRE(zipOpenNewFileInZip(zip, "x.npy", &info, nullptr, 0, nullptr, 0, nullptr, Z_DEFLATED, 9) == ZIP_OK);
  REQUIRE(zipWriteInFileInZip(zip, array.data(), static_cast<unsigned>(array.size())) == ZIP_OK);
  REQUIRE(zipCloseFileInZip(zip) == ZIP_OK);
  REQUIRE(zipClose(zip, nullptr) == ZIP_OK);
  return {{{"source", path}}, path};
}

WrittenDataset write_safetensors(const Scratch& folder, std::size_t samples) {
  const auto json = fmt::format(R"({{"x":{{"dtype":"F32","shape":[{}],"data_offsets":[0,{}]}}}})", samples, 4 * samples);
  return written(
      folder, "data.safetensors",
      data_test::values_of(std::vector<std::uint64_t>{json.size()}) + json + data_test::values_of(sample_values(samples)));
}

WrittenDataset write_idx(const Scratch& folder, std::size_t samples) {
  auto values = data_test::values_of(sample_values(samples));
  for (std::size_t i = 0; i < values.size(); i += 4) std::reverse(&values[i], &values[i] + 4);
  return written(folder, "data-idx1-ubyte",
                 std::string{'\0', '\0', '\x0d', '\1', '\0', '\0', '\0', static_cast<char>(samples)} + values);
}

WrittenDataset write_tar(const Scratch& folder, std::size_t samples) {
  const auto values = sample_values(samples);
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < samples; ++i) {
    const auto array = data_test::npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
                                            data_test::values_of(std::vector<float>{values[i]}));
    entries.push_back(trainrt::test::tar_entry(fmt::format("{:02}.npy", i), array));
    entries.push_back(trainrt::test::tar_entry(fmt::format("{:02}.txt", i), "text"));
  }
  return written(folder, "data.tar", trainrt::test::tar_of(entries));
}

WrittenDataset write_tokens(const Scratch& folder, std::size_t samples) {
  std::vector<std::uint16_t> tokens(2 * samples);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::uint16_t>(1000 + i);
  return written(folder, "data.bin", data_test::values_of(tokens), {{"length", "2"}, {"next_token", "false"}});
}

WrittenDataset write_images(const Scratch& folder, std::size_t samples) {
  std::filesystem::create_directories(folder / "set");
  std::string last;  // the first image determines the size of the others
  for (std::size_t i = 0; i < samples; ++i) {
    const auto label = folder / (i % 2 == 0 ? "set/cat" : "set/dog");
    std::filesystem::create_directories(label);
    last = fmt::format("{}/{:02}.png", label, i);
    data_test::write(last, trainrt::test::png_2x3());
  }
  return {{{"source", folder / "set"}, {"paths", "true"}}, last};
}

WrittenDataset write_hdf5(const Scratch& folder, std::size_t samples) {
  const auto path = folder / "data.h5";
  const auto values = sample_values(samples);
  data_test::make_h5(path, [&](hid_t file) {
    const std::vector<hsize_t> shape{samples};
    const data_test::H5Id space(H5Screate_simple(1, shape.data(), nullptr), H5Sclose, "test");
    const data_test::H5Id dataset(
        H5Dcreate2(file, "x", H5T_IEEE_F32LE, space, trainrt::io::h5_link_properties(), H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
        "test");
    trainrt::io::h5_check(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "test");
  });
  return {{{"source", path}}, path};
}

WrittenDataset write_parquet(const Scratch& folder, std::size_t samples) {
  const auto encoder = trainrt::data::make_arrow_encoder("parquet", {{"x", DType::f32, {}}}, "");
  std::string bytes(encoder->head());
  const auto append = [&](std::span<const std::byte> more) {
    bytes.append(reinterpret_cast<const char*>(more.data()), more.size());
  };
  if (samples > 0) {
    trainrt::data::Column column{0, {}, {}};
    const auto values = sample_values(samples);
    const auto raw = std::as_bytes(std::span(values));
    column.values.assign(raw.begin(), raw.end());
    const auto block = encoder->encode(0, samples, {&column, 1});
    encoder->add(block.notes, bytes.size());
    append(block.values);
  }
  append(encoder->finish());
  return written(folder, "data.parquet", bytes);
}

WrittenDataset write_arrow(const Scratch& folder, std::size_t samples) {
  const auto made = fmt::format("{}/tests/golden/formats/{}.arrow", TRAINRT_SOURCE_DIR, samples);
  return written(folder, "data.arrow", data_test::read(made));
}

WrittenDataset write_sqlite(const Scratch& folder, std::size_t samples) {
  const auto path = folder / "data.db";
#ifdef TRAINRT_SQLITE
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  const auto commands =
      "CREATE TABLE numbers(x REAL, word TEXT);" + lines(samples, "INSERT INTO numbers VALUES (", "NULL", ", 'a');");
  CHECK(sqlite3_exec(database, commands.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
#else
  data_test::write(path, "SQLite format 3");
#endif
  return {{{"source", path}, {"table", "numbers"}}, path};
}

WrittenDataset write_nothing(const Scratch&, std::size_t samples) { return {{{"samples", std::to_string(samples)}}, ""}; }

}  // namespace

std::vector<float> sample_values(std::size_t samples) {
  std::vector<float> values(samples);
  for (std::size_t i = 0; i < samples; ++i)
    values[i] = i == 2 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(i) + 0.5F;
  return values;
}

const std::vector<FormatFiles>& format_files() {
  static const std::vector<FormatFiles> rows{
      {"arrow", write_arrow, "x"},
      {"csv", write_csv, "x", false},
      {"hdf5", write_hdf5, "x"},
      {"idx", write_idx, "images"},
      {"images", write_images},
      {"jsonl", write_jsonl, "x", false},
      {"npy", write_npy, "data"},
      {"npz", write_npz, "x"},
      {"parquet", write_parquet, "x"},
      {"range", write_nothing},
      {"safetensors", write_safetensors, "x"},
      {"sqlite", write_sqlite, "x"},
      {"synthetic", write_nothing},
      {"tar", write_tar, "npy"},
      {"text", write_text, {}, false},
      {"tokens", write_tokens, {}, false},
  };
  return rows;
}

}  // namespace contract
