#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "data/source/source.hpp"

namespace trainrt::data {

/// A block of rows as it stands in a file.
struct EncodedBlock {
  std::vector<std::byte> values;
  std::vector<std::byte> notes;  ///< what add() has to know of it
};

/// Makes a file that holds a table in blocks of rows, each encoded by itself: head(), the blocks' values with anything
/// between them, and behind all what finish() gives.
class TableEncoder {
 public:
  virtual ~TableEncoder() = default;
  virtual std::string_view head() const = 0;
  /// Any threads at once. A column each of the fields, of `count` rows; `first`: the number of the first, for messages.
  /// Throws UsageError for a value that such a file cannot hold.
  virtual EncodedBlock encode(std::uint64_t first, std::uint64_t count, std::span<const Column> columns) const = 0;
  /// The block with these notes stands at byte `at` of the file: in the order of the rows, by one thread. Throws Error if
  /// the notes cannot be understood.
  virtual void add(std::span<const std::byte> notes, std::uint64_t at) = 0;
  virtual std::vector<std::byte> finish() = 0;
};

}  // namespace trainrt::data
