#include "data/arrays/idx_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include <zlib.h>
#include <trainrt/error.hpp>

#include "core/process/memory.hpp"
#include "data/source/row_file.hpp"

namespace trainrt::data {

namespace {

constexpr unsigned char max_dimensions = 32;  // as in HDF5; it also bounds the shapes that messages quote

[[noreturn]] void bad(const std::string& path, const std::string& why) {
  throw UsageError("IDX file " + path + ": " + why);
}

/// The decompressed bytes of a file; a file that is not gzip is read as it is.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rbe"), gzclose) {
    if (!file_) bad(path, std::string("cannot be opened: ") + std::strerror(errno));
    gzbuffer(file_.get(), 1 << 18);
  }

  /// Reads up to `count` bytes; fewer only at the end of the file. A damaged file throws; one cut short just ends.
  std::uint64_t read(std::byte* out, std::uint64_t count) {
    std::uint64_t done = 0;
    while (done < count) {
      const auto chunk = static_cast<unsigned>(std::min<std::uint64_t>(count - done, 1 << 26));
      const int got = gzread(file_.get(), out + done, chunk);
      if (got < 0 && !cut_short()) bad(path_, "is damaged (" + message() + "); copy it here again");
      if (got <= 0) break;
      done += static_cast<std::uint64_t>(got);
    }
    return done;
  }

  /// Reads on to the end of the file, if gzip keeps its checksum; returns how many bytes there were, `limit` at most.
  std::uint64_t skip(std::uint64_t limit) {
    std::vector<std::byte> scratch(1 << 18);
    std::uint64_t done = 0;
    while (done < limit) {
      const auto got = read(scratch.data(), std::min<std::uint64_t>(scratch.size(), limit - done));
      if (got == 0) break;
      done += got;
    }
    return done;
  }

  /// The end came inside the compressed data.
  bool cut_short() const {
    int code = Z_OK;
    gzerror(file_.get(), &code);
    return code == Z_BUF_ERROR;
  }

 private:
  std::string message() const {
    int code = Z_OK;
    const std::string text = gzerror(file_.get(), &code);
    return code == Z_ERRNO ? std::strerror(errno) : text;
  }

  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

std::optional<DType> dtype_of_code(unsigned char code) {
  switch (code) {
    case 0x08:
      return DType::u8;
    case 0x09:
      return DType::i8;
    case 0x0B:
      return DType::i16;
    case 0x0C:
      return DType::i32;
    case 0x0D:
      return DType::f32;
    case 0x0E:
      return DType::f64;
    default:
      return std::nullopt;
  }
}

void set_data_bytes(const std::string& path, IdxHeader& header) {
  header.data_bytes = size_of(header.dtype);
  for (const auto extent : header.shape)
    if (__builtin_mul_overflow(header.data_bytes, static_cast<std::uint64_t>(extent), &header.data_bytes) ||
        header.data_bytes > std::uint64_t{1} << 62)
      bad(path, "its header promises impossibly many values, " + to_string(header.shape) + "; is it an IDX file?");
}

IdxHeader read_header(const std::string& path, Reader& reader) {
  std::array<unsigned char, 4> magic{};
  if (reader.read(reinterpret_cast<std::byte*>(magic.data()), 4) != 4) bad(path, "is too short for an IDX header");
  const auto dtype = dtype_of_code(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || !dtype || magic[3] == 0) {
    std::array<char, 16> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x%02x%02x%02x", magic[0], magic[1], magic[2], magic[3]);
    bad(path, "starts with the bytes " + std::string(hex.data()) +
                  "; an IDX file starts with 0000, a type (08 09 0b 0c 0d 0e) and a number of dimensions");
  }
  if (magic[3] > max_dimensions)
    bad(path, "its header has " + std::to_string(magic[3]) + " dimensions; at most " + std::to_string(max_dimensions) +
                  " can be read. Is it an IDX file?");
  IdxHeader header;
  header.dtype = *dtype;
  header.header_bytes = 4 + 4 * std::uint64_t{magic[3]};
  for (int i = 0; i < magic[3]; ++i) {
    std::array<unsigned char, 4> b{};
    if (reader.read(reinterpret_cast<std::byte*>(b.data()), 4) != 4) bad(path, "is too short for its IDX header");
    header.shape.push_back(std::int64_t{b[0]} << 24 | b[1] << 16 | b[2] << 8 | b[3]);
  }
  set_data_bytes(path, header);
  return header;
}

[[noreturn]] void too_short(const std::string& path, const IdxHeader& header, std::uint64_t bytes) {
  bad(path, "is truncated: it holds " + std::to_string(bytes) + " bytes" + ", and its header promises " +
                std::to_string(header.header_bytes + header.data_bytes) + " (" + std::string(name_of(header.dtype)) + " " +
                to_string(header.shape) + "); copy it here again");
}

/// The length that gzip notes in the last four bytes, if the file is compressed.
std::optional<std::uint32_t> gzip_length(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<unsigned char, 4> b{};
  file.read(reinterpret_cast<char*>(b.data()), 2);
  if (!file || b[0] != 0x1f || b[1] != 0x8b) return std::nullopt;
  file.seekg(-4, std::ios::end);
  file.read(reinterpret_cast<char*>(b.data()), 4);
  return std::uint32_t{b[3]} << 24 | std::uint32_t{b[2]} << 16 | std::uint32_t{b[1]} << 8 | b[0];
}

/// Deflate makes at most 1032 bytes of one (zlib's technical details): whatever its trailer says, no compressed file holds
/// more. So what a damaged header promises is never asked of the memory.
bool may_hold(const std::string& path, std::uint64_t bytes) {
  constexpr std::uint64_t largest_ratio = 1032;
  return bytes / largest_ratio <= std::filesystem::file_size(path);
}

void check_there(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) bad(path, "is not there");
  if (error) bad(path, "cannot be looked at: " + error.message());
  if (!std::filesystem::is_regular_file(status)) bad(path, "is not a file");
}

}  // namespace

IdxHeader check_idx(const std::string& path, const ExpansionLimit& limit) {
  check_there(path);
  Reader reader(path);
  auto header = read_header(path, reader);
  const auto needed = header.header_bytes + header.data_bytes;
  if (const auto length = gzip_length(path)) {
    header.is_compressed = true;
    const bool is_possible = may_hold(path, needed);
    if (is_possible) limit.require(needed, "IDX file " + path + ": its gzip data");
    if (is_possible && *length == static_cast<std::uint32_t>(needed)) return header;
    const auto bytes = header.header_bytes + reader.skip(header.data_bytes);
    if (bytes < needed) too_short(path, header, bytes);
  } else if (const auto bytes = std::filesystem::file_size(path); bytes < needed) {
    too_short(path, header, bytes);
  }
  return header;
}

IdxData read_idx(const std::string& path, const ExpansionLimit& limit) {
  IdxData data{check_idx(path, limit), {}};
  Reader reader(path);
  data.header = read_header(path, reader);
  require_memory(data.header.data_bytes, "IDX file " + path + ": what it holds");
  data.values.resize(data.header.data_bytes);
  const auto got = reader.read(data.values.data(), data.header.data_bytes);
  if (got < data.header.data_bytes) too_short(path, data.header, data.header.header_bytes + got);
  reader.skip(UINT64_MAX);
  if (reader.cut_short()) bad(path, "is truncated: its gzip trailer is missing; copy it here again");
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "IDX values are big-endian");
  swap_values(data.values, size_of(data.header.dtype));
  return data;
}

}  // namespace trainrt::data
