#include "data/arrays/idx_file.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/process/memory.hpp"
#include "data/arrays/inflate_stream.hpp"
#include "data/bytes/coding/inflate.hpp"
#include "data/source/row_file.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

namespace {

constexpr unsigned char max_idx_dimensions = 32;  // HDF5 has the same limit; it also keeps messages short

[[noreturn]] void bad_idx(const InputFile& file, const std::string& why) {
  throw UsageError("IDX file " + file.path() + ": " + why);
}

/// Reads the bytes of an IDX file in order, decompressed if it is gzip.
class IdxReader {
 public:
  explicit IdxReader(const InputFile& file) : file_(file) {
    std::array<std::byte, 2> magic{};
    if (file.size() < magic.size()) return;
    file.read(0, magic);
    if (magic == std::array{std::byte{0x1f}, std::byte{0x8b}})
      inflating_.emplace(file, 0, file.size(), InflateStream::Form::gzip);
  }

  bool is_compressed() const { return inflating_.has_value(); }
  bool is_cut() const { return inflating_ && inflating_->is_cut(); }

  /// Fills `into`, and returns the number of bytes read. The number is smaller than `into` only at the end of the file.
  std::uint64_t read(std::span<std::byte> into) {
    if (inflating_) return decompress([&] { return into.size() - inflating_->read(into).size(); });
    into = into.first(std::min<std::uint64_t>(into.size(), file_.size() - at_));
    file_.read(at_, into);
    at_ += into.size();
    return into.size();
  }

  /// Decompresses at most `limit` further bytes of a gzip file and discards them. Returns their number.
  std::uint64_t skip(std::uint64_t limit) {
    return decompress([&] { return inflating_->skip(limit); });
  }

 private:
  template <class Call>
  std::uint64_t decompress(const Call& call) const try {
    return call();
  } catch (const io::StorageError&) {
    throw;
  } catch (const Error& error) {
    bad_idx(file_, fmt::format("is damaged: {}; copy it here again", error.what()));
  }

  const InputFile& file_;
  std::optional<InflateStream> inflating_;
  std::uint64_t at_ = 0;  ///< position of the next byte of a plain file
};

std::optional<DType> dtype_of_code(unsigned char code) {
  static const std::map<unsigned char, DType> types = {{0x08, DType::u8},  {0x09, DType::i8},  {0x0B, DType::i16},
                                                       {0x0C, DType::i32}, {0x0D, DType::f32}, {0x0E, DType::f64}};
  const auto found = types.find(code);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

std::array<unsigned char, 4> next_four(const InputFile& file, IdxReader& reader) {
  std::array<unsigned char, 4> bytes{};
  if (reader.read(std::as_writable_bytes(std::span(bytes))) != bytes.size())
    bad_idx(file, "is too short for an IDX header");
  return bytes;
}

IdxHeader read_header(const InputFile& file, IdxReader& reader) {
  const auto magic = next_four(file, reader);
  const auto dtype = dtype_of_code(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || !dtype || magic[3] == 0)
    bad_idx(file, fmt::format("starts with the bytes {:02x}{:02x}{:02x}{:02x}; "
                              "an IDX file starts with 0000, a type (08 09 0b 0c 0d 0e) and a number of dimensions",
                              magic[0], magic[1], magic[2], magic[3]));
  if (magic[3] > max_idx_dimensions)
    bad_idx(file, fmt::format("its header has {} dimensions; at most {} can be read. Is it an IDX file?", magic[3],
                              max_idx_dimensions));
  IdxHeader header{*dtype, {}, 4 + 4 * std::uint64_t{magic[3]}, size_of(*dtype), reader.is_compressed()};
  for (int i = 0; i < magic[3]; ++i) {
    const auto b = next_four(file, reader);
    header.shape.push_back(std::int64_t{b[0]} << 24 | b[1] << 16 | b[2] << 8 | b[3]);
  }
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
  IdxReader reader(file);
  auto header = read_header(file, reader);
  const auto needed = header.header_bytes + header.data_bytes;
  if (!header.is_compressed) {
    if (file.size() < needed) too_short(file, header, file.size());
    return header;
  }
  // A gzip file of this size cannot expand to more bytes. Without this check, a damaged header could request any amount
  // of memory.
  const bool is_possible = needed / max_inflation <= file.size();
  if (is_possible) limit.require(needed, "IDX file " + file.path() + ": its gzip data");
  if (is_possible && gzip_length(file) == static_cast<std::uint32_t>(needed)) return header;
  const auto bytes = header.header_bytes + reader.skip(header.data_bytes);
  if (bytes < needed) too_short(file, header, bytes);
  return header;
}

IdxData read_idx(const InputFile& file, const ExpansionLimit& limit) {
  IdxData data{check_idx(file, limit), {}};
  IdxReader reader(file);
  read_header(file, reader);
  require_memory(data.header.data_bytes, "IDX file " + file.path() + ": its values");
  data.values.resize(data.header.data_bytes);
  const auto got = reader.read(data.values);
  if (got < data.header.data_bytes) too_short(file, data.header, data.header.header_bytes + got);
  if (data.header.is_compressed) reader.skip(UINT64_MAX);
  if (reader.is_cut()) bad_idx(file, "is truncated: its gzip trailer is missing; copy it here again");
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "IDX values are big-endian");
  swap_values(data.values, size_of(data.header.dtype));
  return data;
}

}  // namespace trainrt::data
