#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include <trainrt/error.hpp>

namespace trainrt::data {

/// Encodes integers and texts in few bytes. An integer has seven bits per byte, the lowest bits first (LEB128). A text
/// is preceded by its length.
class PackedWriter {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  /// Encodes a signed integer as Protocol Buffers' sint64. An integer with a small absolute value takes few bytes.
  void integer(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  /// Returns all bytes encoded so far. The writer is empty afterwards.
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Decodes the bytes of a PackedWriter: the values must be read in the order in which they were written. Each function
/// throws Error if the bytes end too early, or contain no valid value. The bytes must live as long as the reader.
class PackedReader {
 public:
  explicit PackedReader(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(next(1).front());
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    throw Error("packed values are damaged: an integer has more than 64 bits");
  }
  std::int64_t integer() {
    const auto value = number();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  std::string text() { return std::string(next(number())); }
  std::size_t left() const { return bytes_.size(); }  ///< number of bytes not yet read

 private:
  std::string_view next(std::uint64_t count) {
    if (count > bytes_.size()) throw Error("packed values are damaged: they end too early");
    const auto found = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return found;
  }
  std::string_view bytes_;
};

}  // namespace trainrt::data
