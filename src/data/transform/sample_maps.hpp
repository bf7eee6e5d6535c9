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

/// What is made of one sample of one field, at random if it likes. Pure but for `random`: any threads at once.
class SampleMap {
 public:
  virtual ~SampleMap() = default;
  virtual const Dataset::Field& field() const = 0;  ///< as it becomes; it does not vary in length
  /// `from`: the values of a sample; `to` gets what it becomes, and has room for it.
  virtual void apply(std::span<const std::byte> from, std::span<std::byte> to, Random& random) const = 0;
};

/// The maps of a dataset, in the order in which they were added. What they draw hangs on the seed, the sample, and the name
/// that a map was added by: on nothing else, so neither on ranks and threads nor on a restart.
class SampleMaps {
 public:
  explicit SampleMaps(std::vector<Dataset::Field> fields)
      : before_(fields), fields_(std::move(fields)), steps_(fields_.size()) {}

  /// Maps of one name draw the same for a sample, whatever its field: so an image and its mask are turned alike.
  void add(std::size_t field, std::string_view name, std::shared_ptr<const SampleMap> map);
  const std::vector<Dataset::Field>& fields() const { return fields_; }
  /// The same maps over another source's fields, found by their names. UsageError if a field that is mapped is not there,
  /// or has another type or shape than it had.
  SampleMaps over(const std::vector<Dataset::Field>& fields) const;
  /// Whether a map was added.
  bool changes_any() const {
    return std::any_of(steps_.begin(), steps_.end(), [](const auto& steps) { return !steps.empty(); });
  }
  /// Makes of the field's values, as the source has them, what they become. `seed`: of the epoch.
  void apply(std::uint64_t seed, std::span<const std::uint64_t> samples, Column& column) const;

 private:
  struct Step {
    std::uint64_t name;
    std::shared_ptr<const SampleMap> map;
  };
  std::vector<Dataset::Field> before_;    ///< as the source has them
  std::vector<Dataset::Field> fields_;    ///< as they become
  std::vector<std::vector<Step>> steps_;  ///< by the number of the field
};

}  // namespace trainrt::data
