#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/bytes/coding/packed.hpp"

namespace trainrt::data {

/// A compressed list of names (front coding). For each name, the list stores the length of the prefix that the name shares
/// with the previous name, and the characters after this prefix. Every `group`-th name is stored completely, so that an
/// access decodes at most `group` names.
class PackedNames {
 public:
  static constexpr std::size_t group = 32;

  void add(std::string_view name);
  std::size_t size() const { return size_; }
  std::string operator[](std::size_t number) const;  ///< the name with index `number` < size()
  std::string_view bytes() const { return bytes_; }  ///< the encoded names; equal for equal lists

  void pack(PackedWriter& into) const;
  /// Reads the list that pack() wrote. Throws Error if the bytes do not contain such a list.
  void unpack(PackedReader& from);

 private:
  std::string bytes_;
  std::vector<std::uint64_t> begins_;  ///< offsets in bytes_ of the completely stored names: 0, `group`, 2 * `group`, ...
  std::string last_;
  std::size_t size_ = 0;
};

}  // namespace trainrt::data
