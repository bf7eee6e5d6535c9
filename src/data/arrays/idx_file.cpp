#include "data/arrays/idx_file.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/process/memory.hpp"
#include "data/bytes/coding/inflate.hpp"
#include "data/source/row_source.hpp"

namespace trainrt::data {

namespace {

constexpr std::uint32_t max_idx_dimensions = 32;  // as in HDF5; the limit also keeps messages with a shape short

[[noreturn]] void bad_idx(const InputFile& file, const std::string& why) {
  throw UsageError("IDX file " + file.path() + ": " + why);
}

/// Like inflate_into() for the gzip data `in`, but throws UsageError, which names `file`, for damaged data.
Inflated inflated(const InputFile& file, std::span<const std::byte> in, std::span<std::byte> out,
                  std::uint64_t max_bytes) try {
  return inflate_into(in, out, DeflateForm::gzip, max_bytes);
} catch (const Error& error) {
  bad_idx(file, fmt::format("is damaged: {}; copy it here again", error.what()));
}

std::vector<std::byte> first_bytes(const InputFile& file, std::uint64_t count) {
  std::vector<std::byte> bytes(std::min(count, file.size()));
  file.read(0, bytes);
  return bytes;
}

std::optional<DType> dtype_of_code(std::uint32_t code) {
  static const std::map<std::uint32_t, DType> types = {{0x08, DType::u8},  {0x09, DType::i8},  {0x0B, DType::i16},
                                                       {0x0C, DType::i32}, {0x0D, DType::f32}, {0x0E, DType::f64}};
  const auto found = types.find(code);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

IdxHeader read_header(const InputFile& file) {
  constexpr std::uint64_t bytes_with_header = 64 << 10;  // enough for the largest header, even if the file is compressed
  constexpr std::size_t max_header_bytes = 4 + 4 * max_idx_dimensions;
  auto bytes = first_bytes(file, bytes_with_header);
  const bool is_compressed = bytes.size() > 1 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
  if (is_compressed) {
    const auto packed = std::exchange(bytes, std::vector<std::byte>(max_header_bytes));
    bytes.resize(inflated(file, packed, bytes, max_header_bytes).bytes);
  }
  const auto byte = [&](std::size_t at) {
    if (at >= bytes.size()) bad_idx(file, "is too short for an IDX header; is it an IDX file?");
    return std::to_integer<std::uint32_t>(bytes[at]);
  };
  const std::array magic = {byte(0), byte(1), byte(2), byte(3)};
  const auto dtype = dtype_of_code(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || !dtype || magic[3] == 0)
    bad_idx(file, fmt::format("starts with the bytes {:02x}{:02x}{:02x}{:02x}; "
                              "an IDX file starts with 0000, a type (08 09 0b 0c 0d 0e) and a number of dimensions",
                              magic[0], magic[1], magic[2], magic[3]));
  if (magic[3] > max_idx_dimensions)
    bad_idx(file, fmt::format("its header has {} dimensions; at most {} can be read. Is it an IDX file?", magic[3],
                              max_idx_dimensions));
  IdxHeader header{*dtype, {}, 4 + 4 * std::uint64_t{magic[3]}, size_of(*dtype), is_compressed};
  for (std::size_t at = 4; at < header.header_bytes; at += 4)
    header.shape.push_back(byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3));
  for (const auto extent : header.shape)
    if (__builtin_mul_overflow(header.data_bytes, static_cast<std::uint64_t>(extent), &header.data_bytes) ||
        header.data_bytes > std::uint64_t{1} << 62)
      bad_idx(file,
              "its header declares more values than a file can hold, " + to_string(header.shape) + "; is it an IDX file?");
  return header;
}

[[noreturn]] void too_short(const InputFile& file, const IdxHeader& header, std::uint64_t bytes) {
  bad_idx(file,
          fmt::format("is truncated: it holds {} bytes, but its header declares {} ({} {}); copy it here again", bytes,
                      header.header_bytes + header.data_bytes, name_of(header.dtype), to_string(header.shape)));
}

/// Returns the length of the decompressed data modulo 2^32, which is in the last four bytes of a gzip file.
std::uint32_t gzip_length(const InputFile& file) {
  std::array<unsigned char, 4> b{};
  if (file.size() >= b.size()) file.read(file.size() - b.size(), std::as_writable_bytes(std::span(b)));
  return std::uint32_t{b[3]} << 24 | std::uint32_t{b[2]} << 16 | std::uint32_t{b[1]} << 8 | b[0];
}

}  // namespace

IdxHeader check_idx(const InputFile& file, const ExpansionLimit& limit) {
  const auto header = read_header(file);
  const auto needed = header.header_bytes + header.data_bytes;
  if (!header.is_compressed) {
    if (file.size() < needed) too_short(file, header, file.size());
    return header;
  }
  // Each byte of gzip data expands to at most max_inflation bytes. Without this check, a damaged header could request any
  // amount of memory.
  const bool is_possible = needed / max_inflation <= file.size();
  if (is_possible) limit.require(needed, "IDX file " + file.path() + ": its gzip data");
  if (is_possible && gzip_length(file) == static_cast<std::uint32_t>(needed)) return header;
  const auto bytes = inflated(file, first_bytes(file, file.size()), {}, needed).bytes;
  if (bytes < needed) too_short(file, header, bytes);
  return header;
}

IdxData read_idx(const InputFile& file, const ExpansionLimit& limit) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "IDX values are big-endian");
  const auto header = check_idx(file, limit);
  require_memory(header.data_bytes, "IDX file " + file.path() + ": its values");
  std::vector<std::byte> all(header.header_bytes + header.data_bytes);
  if (header.is_compressed) {
    const auto found = inflated(file, first_bytes(file, file.size()), all, UINT64_MAX);
    if (found.bytes < all.size()) too_short(file, header, found.bytes);
    if (found.is_cut) bad_idx(file, "is truncated: its gzip trailer is missing; copy it here again");
  } else {
    file.read(0, all);
  }
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(header.header_bytes));
  swap_values(all, size_of(header.dtype));
  return {header, std::move(all)};
}

}  // namespace trainrt::data
