#pragma once
#include <memory>
#include <string>

#include <trainrt/preprocessor.hpp>

#include "data/bytes/coding/packed.hpp"

namespace trainrt::data {

/// What is learned of one column. All that it gives is exact, so that it is the same however the samples are parted.
/// One that needs several passes over the data learns a part in each.
class Statistic {
 public:
  virtual ~Statistic() = default;
  /// One of the same kind that has seen nothing in this pass: for another thread.
  virtual std::unique_ptr<Statistic> fresh() const = 0;
  /// All samples of a batch. UsageError that says what is wrong with them, without the column's name.
  virtual void see(const Table::Column& column) = 0;
  virtual void write(PackedWriter& into) const = 0;
  virtual void merge(PackedReader& from) = 0;
  /// After the parts of all are merged: whether another pass is needed, which then begins.
  virtual bool begin_next_pass() { return false; }
};

/// A statistic that a preprocessor needs, and of which column.
struct Wish {
  std::string column;
  std::unique_ptr<Statistic> statistic;
};

}  // namespace trainrt::data
