#include "data/tokens/token_file.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/arrays/npy_header.hpp"
#include "data/source/row_source.hpp"

namespace trainrt::data {

namespace {

[[noreturn]] void bad_tokens(const std::string& path, const std::string& why) {
  throw UsageError("token file " + path + ": " + why);
}

TokenType token_type_of(std::string_view name) {
  if (name == "u8") return {1, false, false};
  if (name == "u32") return {4, false, false};
  if (name == "i32") return {4, true, false};
  if (name == "i64") return {8, true, false};
  return {2, false, false};
}

std::string name_of_tokens(const TokenType& type) {
  return fmt::format("{}{}", type.is_signed ? 'i' : 'u', 8 * type.bytes);
}

/// Converts tokens from u16 to i32. The compiler can vectorize this loop.
void widen_u16(std::span<const std::byte> raw, std::byte* __restrict out) {
  const std::size_t count = raw.size() / sizeof(std::uint16_t);
  const auto* in = raw.data();
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t value = 0;
    std::memcpy(&value, in + i * sizeof value, sizeof value);
    const auto wide = static_cast<std::int32_t>(value);
    std::memcpy(out + i * sizeof wide, &wide, sizeof wide);
  }
}

template <class Value>
void find_values(std::span<const std::byte> raw, std::int64_t id, std::uint64_t first,
                 const std::function<void(std::uint64_t)>& found) {
  const auto wanted = static_cast<Value>(id);
  for (std::size_t at = 0; at + sizeof(Value) <= raw.size(); at += sizeof(Value)) {
    Value value;
    std::memcpy(&value, raw.data() + at, sizeof value);
    if (value == wanted) found(first + at / sizeof(Value));
  }
}

}  // namespace

DType TokenType::widened() const {
  if (bytes == 1) return DType::u8;
  if (bytes == 2 && is_signed) return DType::i16;
  return bytes == 8 ? DType::i64 : DType::i32;
}

TokenFile::TokenFile(const DataFile& file, std::string_view type, std::uint64_t header_bytes)
    : file_(std::make_shared<InputFile>(file)), type_(token_type_of(type)), offset_(header_bytes) {
  if (file.path.ends_with(".npy")) {
    read_npy_header();
    if (!type.empty() && type != name_of_tokens(type_))
      bad_tokens(path(), fmt::format("dtype = {}, but the file's header has {}; remove the key 'dtype'", type,
                                     name_of_tokens(type_)));
    if (header_bytes != 0)
      bad_tokens(path(),
                 "the key 'header' is only valid for flat files; remove it, because a .npy file has its own header");
    return;
  }
  if (file.size < offset_) bad_tokens(path(), fmt::format("has {} bytes, less than header = {}", file.size, offset_));
  const auto bytes = file.size - offset_;
  if (bytes % type_.bytes != 0)
    bad_tokens(path(), fmt::format("its {} bytes of tokens are not a multiple of {}, the size of a token of type {}; "
                                   "the file is truncated, or the key 'dtype' or 'header' is wrong",
                                   bytes, type_.bytes, name_of_tokens(type_)));
  size_ = bytes / type_.bytes;
}

void TokenFile::read_npy_header() {
  const auto header = npy_header(*file_);
  const bool is_signed = header.kind == 'i';
  const bool has_type = is_signed ? header.value_bytes > 1 : header.kind == 'u' && header.value_bytes < 8;
  if (header.shape.size() != 1 || !has_type)
    bad_tokens(path(), fmt::format("holds an array of type {}{} and shape {}; "
                                   "token ids must be an array of one axis, of type u1, u2, u4, i2, i4 or i8",
                                   header.kind, header.value_bytes, to_string(header.shape)));
  type_ = {header.value_bytes, is_signed, header.is_big_endian};
  offset_ = header.header_bytes;
  size_ = header.samples();
}

bool TokenFile::can_hold(std::int64_t id) const {
  const auto bits = 8 * type_.bytes - (type_.is_signed || type_.bytes == 4 ? 1 : 0);
  return id >= 0 && (bits >= 63 || id < std::int64_t{1} << bits);
}

void TokenFile::keep() {
  std::vector<std::byte> all;
  Run run{0, size_, {}};
  read({&run, 1}, all);
  kept_ = std::move(all);
}

void TokenFile::read(std::span<Run> runs, std::vector<std::byte>& scratch) const {
  if (is_resident()) {
    for (auto& run : runs) run.raw = std::span(kept_).subspan(run.first * type_.bytes, run.count * type_.bytes);
    return;
  }
  std::uint64_t tokens = 0;
  for (const auto& run : runs) tokens += run.count;
  scratch.resize(tokens * type_.bytes);
  std::vector<FilePart> parts;
  auto into = std::span(scratch);
  for (auto& run : runs) {
    const auto part = into.first(run.count * type_.bytes);
    parts.push_back({offset_ + run.first * type_.bytes, part});
    run.raw = part;
    into = into.subspan(part.size());
  }
  file_->read(parts);
  if (type_.is_big_endian) swap_values(scratch, type_.bytes);
}

void TokenFile::widen(std::span<const std::byte> raw, std::uint64_t first, std::byte* out) const {
  if (type_.bytes == size_of(type_.widened()) && (type_.is_signed || type_.bytes == 1)) {
    std::copy(raw.begin(), raw.end(), out);
    return;
  }
  if (type_.bytes == 2) return widen_u16(raw, out);
  for (std::size_t at = 0; at + 4 <= raw.size(); at += 4)
    if ((raw[at + 3] & std::byte{0x80}) != std::byte{}) {
      std::uint32_t id = 0;
      std::memcpy(&id, raw.data() + at, sizeof id);
      throw UsageError(fmt::format("token file {}: the token at index {} has id {}; train functions support ids up to {}",
                                   path(), first + at / 4, id, std::numeric_limits<std::int32_t>::max()));
    }
  std::copy(raw.begin(), raw.end(), out);
}

void TokenFile::find_all(std::int64_t id, const std::function<void(std::uint64_t)>& found) const {
  constexpr std::uint64_t piece_bytes = 4 << 20;
  const auto max_tokens = piece_bytes / type_.bytes;
  std::vector<std::byte> scratch;
  for (std::uint64_t first = 0; first < size_; first += max_tokens) {
    Run run{first, std::min(max_tokens, size_ - first), {}};
    read({&run, 1}, scratch);
    if (type_.bytes == 1) find_values<std::uint8_t>(run.raw, id, first, found);
    if (type_.bytes == 2) find_values<std::uint16_t>(run.raw, id, first, found);
    if (type_.bytes == 4) find_values<std::uint32_t>(run.raw, id, first, found);
    if (type_.bytes == 8) find_values<std::uint64_t>(run.raw, id, first, found);
  }
}

}  // namespace trainrt::data
