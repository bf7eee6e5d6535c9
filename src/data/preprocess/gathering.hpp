#pragma once
#include <string>
#include <utility>
#include <vector>

#include "data/preprocess/preprocessing.hpp"

namespace trainrt::data {

/// One that makes each of its outputs of all of its columns.
class Gathering : public Preprocessing {
 public:
  Gathering(std::vector<std::string> columns, std::vector<std::string> outputs)
      : columns_(std::move(columns)), outputs_(std::move(outputs)) {}
  bool learns() const override { return false; }
  std::vector<std::string> needs(const std::string& output) const final;
  void apply(Table& table) const final;

 protected:
  /// All columns are there.
  virtual void change(Table& table) const = 0;
  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<std::string>& outputs() const { return outputs_; }
  /// The fields of the columns, in their order. UsageError if one is missing.
  Fields own_fields(const Fields& before) const;
  std::vector<const Table::Column*> own_columns(Table& table) const;

 private:
  std::vector<std::string> columns_, outputs_;
};

}  // namespace trainrt::data
