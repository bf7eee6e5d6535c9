#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <trainrt/dataset.hpp>

namespace trainrt::program {

/// Where the fields of one batch lie in a memory, one behind the other: the values, and of a field that varies in length
/// also where each sample's values end, as u64 numbers of values.
class BatchCopy {
 public:
  static constexpr std::size_t alignment = 64;

  struct Place {
    std::size_t at = 0;
    std::size_t values = 0;   ///< elements in all
    std::size_t ends_at = 0;  ///< of a field that varies in length
  };

  /// Reads the fields. The batch must live longer, and stay the one in hand.
  BatchCopy(const Batch& batch, std::span<const Dataset::Field> fields);
  std::size_t bytes() const { return bytes_; }
  const std::vector<Place>& places() const { return places_; }
  /// `memory` has room for bytes().
  void write(std::byte* memory) const;

 private:
  std::size_t take(std::size_t bytes);
  Place place_of(const Dataset::Field& field);
  void write_varying(std::size_t number, std::byte* memory) const;

  const Batch& batch_;
  std::span<const Dataset::Field> fields_;
  std::vector<Place> places_;
  std::size_t bytes_ = 0;
};

}  // namespace trainrt::program
