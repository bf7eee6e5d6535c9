#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <trainrt/error.hpp>

namespace trainrt::data {

/// Encodes values in few bytes:
/// - an integer: seven bits per byte, the lowest bits first (LEB128)
/// - a text or a list: its length, then its elements
/// - a struct with the static function `packed_members(self)`, which returns std::tie() of its members: these members
/// - a struct with the functions `pack(PackedWriter&)` and `unpack(PackedReader&)`: as these functions determine
class PackedWriter {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  /// Encodes a signed integer like sint64 of Protocol Buffers: an integer with a small absolute value takes few bytes.
  void integer(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_signed_v<T>)
      integer(value);
    else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
      number(static_cast<std::uint64_t>(value));
    else if constexpr (std::is_same_v<T, std::string>)
      text(value);
    else if constexpr (requires { value.pack(*this); })
      value.pack(*this);
    else if constexpr (requires { T::packed_members(value); })
      std::apply([&](const auto&... members) { (put(members), ...); }, T::packed_members(value));
    else {
      number(value.size());
      for (const auto& element : value) put(element);
    }
  }
  /// Returns all bytes encoded so far. The writer is empty afterwards.
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Decodes the bytes of a PackedWriter. The values must be read in the order in which they were written. Each function
/// throws Error if the bytes end too early or are not a valid value. The bytes must live as long as the reader.
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
  /// Decodes the number of elements of a list. Throws Error if the number exceeds the number of remaining bytes, so that
  /// damaged bytes cannot request much memory; each element takes at least one byte.
  std::size_t count() {
    const auto count = number();
    if (count > bytes_.size()) throw Error("packed values are damaged: a list is longer than the bytes");
    return count;
  }
  template <class T>
  void get(T& value) {
    if constexpr (std::is_signed_v<T>)
      value = static_cast<T>(integer());
    else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
      value = static_cast<T>(number());
    else if constexpr (std::is_same_v<T, std::string>)
      value = text();
    else if constexpr (requires { value.unpack(*this); })
      value.unpack(*this);
    else if constexpr (requires { T::packed_members(value); })
      std::apply([&](auto&... members) { (get(members), ...); }, T::packed_members(value));
    else {
      value.resize(count());
      for (auto& element : value) get(element);
    }
  }
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

/// Encodes one value, such as a struct, as PackedWriter does.
template <class T>
std::string packed(const T& value) {
  PackedWriter writer;
  writer.put(value);
  return writer.take();
}

/// Returns the value that packed() encoded. Throws Error if the bytes are damaged.
template <class T>
T unpacked(std::string_view bytes) {
  T value;
  PackedReader(bytes).get(value);
  return value;
}

}  // namespace trainrt::data
