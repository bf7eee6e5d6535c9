#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include <trainrt/error.hpp>

namespace trainrt::data {

/// Numbers and texts as few bytes: numbers by seven bits a byte, the lowest first (LEB128), texts behind their length.
class PackedWriter {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  /// A small one of either sign takes as few bytes (as Protocol Buffers' sint64).
  void integer(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Gives back in the same order what was written. Throws Error if there is no more, or another thing.
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
    throw Error("what was listed of a file of a dataset is damaged: a number has no end");
  }
  std::int64_t integer() {
    const auto value = number();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  std::string text() { return std::string(next(number())); }
  std::size_t left() const { return bytes_.size(); }  ///< bytes

 private:
  std::string_view next(std::uint64_t count) {
    if (count > bytes_.size()) throw Error("what was listed of a file of a dataset is damaged: it ends too early");
    const auto found = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return found;
  }
  std::string_view bytes_;
};

}  // namespace trainrt::data
