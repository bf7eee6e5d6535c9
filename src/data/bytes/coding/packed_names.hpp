#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/bytes/coding/packed.hpp"

namespace trainrt::data {

/// Many names in little memory, in the order in which they were added: of each what it does not share with the beginning of
/// the one before it (front coding), but for one in so many, from which the others are found.
class PackedNames {
 public:
  static constexpr std::size_t together = 32;

  void add(std::string_view name);
  std::size_t size() const { return size_; }
  std::string operator[](std::size_t number) const;  ///< number < size()
  std::string_view bytes() const { return bytes_; }  ///< of all: equal for equal names

  void pack(PackedWriter& into) const;
  /// Throws Error if it is not what pack() wrote.
  static PackedNames unpacked(PackedReader& from);

 private:
  std::string bytes_;
  std::vector<std::uint64_t> begins_;  ///< of names 0, `together`, 2 * `together`, ...
  std::string last_;
  std::size_t size_ = 0;
};

}  // namespace trainrt::data
