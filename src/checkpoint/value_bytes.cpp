#include "checkpoint/value_bytes.hpp"

#include <bit>

namespace trainrt::checkpoint {

namespace {

constexpr std::size_t min_string_room = 64;

template <class T>
std::string raw(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
std::string stored(std::int32_t value) { return raw(std::int64_t{value}); }
std::string stored(std::int64_t value) { return raw(value); }
std::string stored(double value) { return raw(value); }
std::string stored(bool value) { return std::string(1, value ? '\1' : '\0'); }
std::string stored(const std::string& value) { return value; }

}  // namespace

std::string bytes_of(const ValueEntry& entry) {
  return std::visit([](const auto* value) { return stored(*value); }, entry.value);
}

std::uint64_t room_of(const ValueEntry& entry) {
  if (const auto* text = std::get_if<std::string*>(&entry.value))
    return std::bit_ceil(std::max(min_string_room, (*text)->size()));
  return bytes_of(entry).size();
}

std::string dtype_of(const ValueEntry& entry) {
  return std::visit(
      [](const auto* value) -> std::string {
        using T = std::remove_cvref_t<decltype(*value)>;
        if constexpr (std::is_same_v<T, std::string>)
          return "string";
        else if constexpr (std::is_same_v<T, std::int32_t>)
          return "i64";
        else
          return std::string(trainrt::name_of(trainrt::dtype_of<T>::value));
      },
      entry.value);
}

}  // namespace trainrt::checkpoint
