#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/source/format.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// The memory that the ranks of a node share for a dataset.
struct NodeShare {
  int ranks = 1;                        ///< number of ranks on the node
  std::shared_ptr<std::byte[]> memory;  ///< memory of a NodeCache; nullptr if nothing is shared
  std::shared_ptr<const int> file;      ///< descriptor of the memory; nullptr if pages need not be reserved before use
};

/// Position of the values of one sample in a ValueArena.
struct ValuePlace {
  std::uint64_t at = 0, bytes = 0;
};

/// Divides the samples of a dataset into units, which are groups of consecutive samples that are read together. Also
/// determines where the values are stored in memory: the values of a field are contiguous, in the order of the samples.
/// For a field that varies in length, a ValuePlace per sample is stored there; the values are in a ValueArena. Immutable.
class UnitLayout {
 public:
  /// Properties of a file that determine its units.
  struct File {
    std::uint64_t samples = 0;
    Reading reading = Reading::by_field;
    std::uint64_t together = 1;  ///< number of samples that can only be read together, from FileContent::together
  };
  static constexpr std::uint64_t default_unit_bytes = 1 << 20;

  /// Makes units of about `unit_bytes` bytes. A unit is larger if its file cannot be read in smaller parts.
  /// `arena_bytes` is the maximum total size of the values of all fields that vary in length.
  UnitLayout(std::span<const Dataset::Field> fields, std::span<const File> files,
             std::uint64_t unit_bytes = default_unit_bytes, std::uint64_t arena_bytes = 0);
  /// Returns the number of bytes of a sample of `field`. If `field` varies in length, this is the size of a ValuePlace.
  static std::size_t bytes_of_sample(const Dataset::Field& field) {
    return field.varies ? sizeof(ValuePlace) : data::sample_bytes(field);
  }

  std::size_t fields() const { return offsets_.size(); }
  std::size_t units() const { return ends_.size(); }
  /// The samples of a unit are those from first() to end() - 1.
  std::uint64_t first(std::size_t unit) const { return unit == 0 ? 0 : ends_[unit - 1]; }
  std::uint64_t end(std::size_t unit) const { return ends_[unit]; }
  std::size_t unit_of(std::uint64_t sample) const;
  /// Returns how the files of this unit must be read: by field, by record or as a whole. If the files of the unit differ,
  /// returns the way that reads the most at once.
  Reading reading(std::size_t unit) const { return readings_[unit]; }

  /// Returns the position of the first value of `field`, in bytes from the beginning of the values of all fields.
  std::uint64_t offset(std::size_t field) const { return offsets_[field]; }
  std::size_t sample_bytes(std::size_t field) const { return sample_bytes_[field]; }
  bool varies(std::size_t field) const { return varies_[field]; }  ///< whether the field's values are ValuePlaces
  std::uint64_t bytes() const { return bytes_; }                   ///< total size of all fields, without the ValueArena
  std::uint64_t arena_bytes() const { return arena_bytes_; }

 private:
  void add(const File& file, std::uint64_t bytes_of_sample, std::uint64_t unit_bytes);

  std::vector<std::uint64_t> ends_;  ///< for each unit, the number of samples up to the end of the unit
  std::vector<Reading> readings_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::size_t> sample_bytes_;
  std::vector<bool> varies_;
  std::uint64_t arena_bytes_;
  std::uint64_t bytes_ = 0;
  std::uint64_t open_bytes_ = 0;  ///< size of the last unit if further samples are added to it; 0 if it is complete
};

}  // namespace trainrt::data
