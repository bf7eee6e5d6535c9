#pragma once
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <trainrt/error.hpp>
#include <trainrt/tensor.hpp>

namespace trainrt::checkpoint {

/// What ranks tell each other, as bytes: numbers and texts one after the other.
class Packer {
 public:
  Packer& put(std::integral auto value) {
    const auto number = static_cast<std::int64_t>(value);
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return *this;
  }
  Packer& put(std::string_view text) {
    put(text.size());
    bytes_ += text;
    return *this;
  }
  Packer& put(const Shape& shape) {
    put(shape.size());
    for (const auto extent : shape) put(extent);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Takes them out again in the same order. Running out of bytes throws Error: the ranks run different programs.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }
  std::int64_t number() {
    std::int64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(static_cast<std::size_t>(number()))); }
  Shape shape() {
    Shape shape;
    for (auto left = number(); left > 0; --left) shape.push_back(number());
    return shape;
  }

 private:
  std::string_view take(std::size_t count) {
    if (count > rest_.size()) throw Error("a rank sent a message that ends too early: do all ranks run the same trainrt?");
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::string_view rest_;
};

}  // namespace trainrt::checkpoint
