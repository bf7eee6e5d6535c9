#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <trainrt/dataset.hpp>

#include "core/options.hpp"
#include "data/source/format.hpp"
#include "data/tables/table_abi.hpp"

namespace trainrt::data {

/// Which columns of a table a field is made of: one, or several numbers that become a vector.
struct TableField {
  struct Part {
    std::size_t column = 0;
    std::size_t offset = 0;  ///< bytes, within a sample
  };
  Dataset::Field field;
  std::vector<Part> parts;
  /// The type was inferred, so that a whole number that it would round is an error: f64 because values are missing.
  bool must_fit = false;
};

/// What is read of a table, and how its rows are cut into blocks.
struct TablePlan {
  std::vector<TableField> fields;
  std::vector<std::uint64_t> blocks;
  std::vector<std::string> vector_columns = {};  ///< as FileContent has them; not of a plan that plan_of() returns
};

/// The keys `columns`, `types`, `vector` and `chunk_cache` of formats of tables.
std::vector<OptionSpec> table_options();

/// What a section's keys say of a table. Whole numbers of which some are missing become f64. What is left out, and what
/// numbers stand for, is said once. Throws UsageError that names key, file and column.
TablePlan table_plan(const TableFile& table, const Options& options, const std::string& path);

/// As FileContent: it has the plan as its index.
FileContent content_of(const TablePlan& plan);
TablePlan plan_of(const FileContent& content);

}  // namespace trainrt::data
