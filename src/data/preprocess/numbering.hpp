#pragma once
#include "data/preprocess/encoding.hpp"

namespace trainrt::data {

/// An encoding that makes of a value the number of its category, as i64.
class Numbering : public Encoding {
 public:
  using Encoding::Encoding;

 protected:
  Dataset::Field made(std::size_t at, const Dataset::Field& from) const final;
  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const final;

 private:
  /// A value that fit() has not seen is an error, instead of Categories::unknown.
  virtual bool refuses_unknown() const { return false; }
};

}  // namespace trainrt::data
