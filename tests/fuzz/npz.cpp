// Reads NumPy's .npz files: zip archives of arrays, stored and deflated.
#include <fstream>
#include <iterator>

#include <minizip/zip.h>

#include "support/fuzz/fuzz_data.hpp"

namespace trainrt::data::plugins {
extern const Format npz;
}

namespace trainrt::fuzz {

namespace {

std::string array_of(const std::string& descr, const std::string& shape, const std::string& values) {
  const auto dict = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + "}\n";
  return "\x93NUMPY" + std::string{1, 0, static_cast<char>(dict.size()), 0} + dict + values;
}

/// Returns the bytes of an archive with these members (name, bytes). `method` and `zip64` are minizip's arguments.
std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members, int method, int zip64) {
  MemoryFile file;
  auto* zip = zipOpen64(file.path().c_str(), APPEND_STATUS_CREATE);
  for (const auto& [name, bytes] : members) {
    zip_fileinfo info{};
    const bool is_written =
        zipOpenNewFileInZip64(zip, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr, method, 9, zip64) == ZIP_OK &&
        zipWriteInFileInZip(zip, bytes.data(), static_cast<unsigned>(bytes.size())) == ZIP_OK &&
        zipCloseFileInZip(zip) == ZIP_OK;
    require(is_written, "the fuzz target can write a zip archive");
  }
  require(zipClose(zip, nullptr) == ZIP_OK, "the fuzz target can write a zip archive");
  std::ifstream written(file.path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(written), {}};
}

}  // namespace

std::vector<std::string> seeds() {
  const auto images = array_of("|u1", "(3, 2)", "abcdef"), labels = array_of(">i2", "(3,)", "aabbcc");
  const auto zeros = array_of("|u1", "(3, 1000)", std::string(3000, '\0'));
  std::vector<std::string> zips;
  for (const int method : {0, Z_DEFLATED})
    for (const int zip64 : {0, 1})
      zips.push_back(zip_of({{"x.npy", images}, {"labels.npy", labels}, {"zeros.npy", zeros}}, method, zip64));
  zips.push_back(zip_of({{"x.npy", images}, {"x.npy", images}, {"../y", "?"}}, 0, 0));
  return zips;
}

std::vector<std::string> words() {
  return {"PK\x01\x02",
          "PK\x03\x04",
          "PK\x05\x06",
          "PK\x06\x06",
          "PK\x06\x07",
          "x.npy",
          "labels.npy",
          std::string("\x01\x00\x10\x00", 4),
          "\xff\xff\xff\xff",
          std::string("\x08\x00", 2),
          std::string("\x00\x00\x00\x00", 4)};
}

void read(const std::string& input) {
  static MemoryFile file;
  file.hold(input);
  const data::DataFile as_listed{file.path(), input.size(), 0};
  read_through(data::plugins::npz, as_listed, true);
  read_through(data::plugins::npz, as_listed, false, {"fields=images=x, labels"});
}

}  // namespace trainrt::fuzz
