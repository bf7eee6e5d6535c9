#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <trainrt/random.hpp>

#include "data/source/source.hpp"

namespace trainrt::data {

/// A change of the values of one field. It is applied to each sample, and may be random.
struct SampleMap {
  Dataset::Field field;  ///< the field after the change; it does not vary in length
  /// Writes the changed values of one sample to `to`, which must have exactly the size of these values. The result
  /// depends only on `from` and `random`. Several threads may call it at the same time.
  Dataset::SampleFunction apply;
};

/// The random changes of a dataset's fields. They are applied in the order in which they were added. The random numbers
/// depend only on the epoch's seed, the sample, and the name of the change. They do not depend on ranks, threads,
/// batches or restarts.
class SampleMaps {
 public:
  explicit SampleMaps(std::vector<Dataset::Field> fields)
      : before_(fields), fields_(std::move(fields)), steps_(fields_.size()) {}

  /// Adds a change of field number `field`. Changes with the same name draw the same random numbers for a sample, even
  /// for different fields. For example, an image and its mask are flipped together. Throws UsageError if the field
  /// varies in length.
  void add(std::size_t field, std::string_view name, SampleMap map);
  /// Returns the fields after all changes.
  const std::vector<Dataset::Field>& fields() const { return fields_; }
  /// Returns the same changes for samples with other fields, `fields`. Fields are matched by name. Throws UsageError if a
  /// changed field is missing or has a different type or shape.
  SampleMaps over(const std::vector<Dataset::Field>& fields) const;
  /// Returns whether any change was added.
  bool changes_any() const {
    return std::any_of(steps_.begin(), steps_.end(), [](const auto& steps) { return !steps.empty(); });
  }
  /// Replaces the values of `samples` in `column`, which were read from the source, by the changed values. `seed` is
  /// the seed of the epoch.
  void apply(std::uint64_t seed, std::span<const std::uint64_t> samples, Column& column) const;

 private:
  struct Step {
    std::uint64_t name;  ///< hash of the name
    std::shared_ptr<const SampleMap> map;
  };
  std::vector<Dataset::Field> before_;    ///< the fields of the source
  std::vector<Dataset::Field> fields_;    ///< the fields after all changes
  std::vector<std::vector<Step>> steps_;  ///< steps by the number of the field
};

}  // namespace trainrt::data
