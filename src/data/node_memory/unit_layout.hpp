#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/node_memory/value_arena.hpp"
#include "data/source/format.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// How the samples of a dataset are cut into units of neighbours that are read together, and where their values lie if all
/// of them lie in memory: those of a field that varies in length in a ValueArena, and here where they lie in it. Pure.
class UnitLayout {
 public:
  /// A file, as far as it matters here.
  struct Part {
    std::uint64_t samples = 0;
    Reading reading = Reading::by_field;
    std::uint64_t together = 1;  ///< as FileContent has it
  };
  static constexpr std::uint64_t usual_bytes = 1 << 20;  ///< of a unit, if its files let it be so small

  /// `arena_bytes`: what the values of all fields that vary in length take at most.
  UnitLayout(std::span<const Dataset::Field> fields, std::span<const Part> parts, std::uint64_t unit_bytes = usual_bytes,
             std::uint64_t arena_bytes = 0);
  /// Bytes of a sample, without its values that vary in length.
  static std::size_t bytes_of_sample(const Dataset::Field& field) {
    return field.varies ? sizeof(ValuePlace) : data::sample_bytes(field);
  }

  std::size_t fields() const { return places_.size(); }
  std::size_t units() const { return ends_.size(); }
  std::uint64_t first(std::size_t unit) const { return unit == 0 ? 0 : ends_[unit - 1]; }
  std::uint64_t end(std::size_t unit) const { return ends_[unit]; }
  std::size_t unit_of(std::uint64_t sample) const;
  /// What is read of its files even if one field is wanted: of several that which reads most.
  Reading reading(std::size_t unit) const { return readings_[unit]; }

  /// The values of one field lie one sample after another.
  std::uint64_t place(std::size_t field) const { return places_[field]; }
  std::size_t sample_bytes(std::size_t field) const { return sample_bytes_[field]; }
  bool varies(std::size_t field) const { return varies_[field]; }  ///< its values are ValuePlaces
  std::uint64_t bytes() const { return bytes_; }                   ///< of all fields
  std::uint64_t arena_bytes() const { return arena_bytes_; }

 private:
  void add(const Part& part, std::uint64_t bytes_of_sample, std::uint64_t unit_bytes);

  std::vector<std::uint64_t> ends_;  ///< samples in all up to the end of each unit
  std::vector<Reading> readings_;
  std::vector<std::uint64_t> places_;
  std::vector<std::size_t> sample_bytes_;
  std::vector<bool> varies_;
  std::uint64_t arena_bytes_;
  std::uint64_t bytes_ = 0;
  std::uint64_t open_bytes_ = 0;  ///< of the last unit, which takes more; 0: it is full
};

}  // namespace trainrt::data
