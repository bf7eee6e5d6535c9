#pragma once
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <trainrt/dataset.hpp>

#include "core/options.hpp"
#include "data/source/format.hpp"
#include "data/tables/table_abi.hpp"

namespace trainrt::data {

/// A field, and the columns of a table from which it is made: one column, or several columns of numbers that form a
/// vector.
struct TableField {
  struct Part {
    std::size_t column = 0;
    std::size_t offset = 0;  ///< offset in bytes in a sample
    static auto packed_members(auto& self) { return std::tie(self.column, self.offset); }
  };
  Dataset::Field field;
  std::vector<Part> parts;
  bool must_be_exact = false;  ///< the type f64 was inferred: an integer that f64 would round is an error

  /// `field` is not encoded here, because FileContent::fields contains it.
  static auto packed_members(auto& self) { return std::tie(self.parts, self.must_be_exact); }
};

/// The fields that are read from a table, and the number of rows of each block.
struct TablePlan {
  std::vector<TableField> fields;
  std::vector<std::uint64_t> blocks;
  std::vector<std::string> vector_columns = {};  ///< as FileContent::vector_columns; empty in the result of plan_of()

  static auto packed_members(auto& self) { return std::tie(self.fields, self.blocks); }
};

/// Returns the specifications of the keys `columns`, `types`, `vector` and `chunk_cache`, which all table formats have.
std::vector<OptionSpec> table_options();

/// Chooses the fields and their types according to the keys in `options`. A column of integers with missing values becomes
/// an f64 field. Logs once which columns are left out, and the units of columns that contain times. Throws UsageError,
/// which names key, file (`path`) and column, for an invalid key or column.
TablePlan table_plan(const TableReader& table, const Options& options, const std::string& path);

/// Returns the content of a file that is read according to `plan`. FileContent::index contains the encoded plan.
FileContent content_of(const TablePlan& plan);
/// Returns the plan from which content_of() made `content`.
TablePlan plan_of(const FileContent& content);

}  // namespace trainrt::data
