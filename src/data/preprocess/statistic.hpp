#pragma once
#include <memory>
#include <string>

#include <trainrt/preprocessor.hpp>

#include "data/bytes/coding/packed.hpp"

namespace trainrt::data {

constexpr const char* has_infinity = "it contains an infinite value";  ///< message of Statistic::add()

/// A property of all values of one column, such as their mean. Results are exact, so they do not depend on how the
/// samples are divided among threads and ranks. Some statistics need several passes over the data.
class Statistic {
 public:
  virtual ~Statistic() = default;
  /// Returns a statistic of the same kind for another thread. It contains no values of the current pass.
  virtual std::unique_ptr<Statistic> fresh() const = 0;
  /// Adds all values of a column. Throws UsageError without the column's name if a value is unsuitable.
  virtual void add(const Table::Column& column) = 0;
  /// write() appends this statistic to `into`. merge() adds a statistic that another thread or rank has written.
  virtual void write(PackedWriter& into) const = 0;
  virtual void merge(PackedReader& from) = 0;
  /// Ends a pass over the data. Precondition: the parts of all ranks have been merged. Returns whether another pass is
  /// needed.
  virtual bool begin_next_pass() { return false; }
};

/// A statistic that a preprocessor needs, and the name of its column.
struct StatisticRequest {
  std::string column;
  std::unique_ptr<Statistic> statistic;
};

}  // namespace trainrt::data
