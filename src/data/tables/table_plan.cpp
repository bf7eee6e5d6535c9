#include "data/tables/table_plan.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/coding/packed.hpp"
#include "data/bytes/log_once.hpp"
#include "data/text/field_types.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

namespace {

bool is_single_number(const TableColumn& column) { return !column.varies && column.shape.empty(); }

bool is_integer_type(DType type) { return !is_real(type) && type != DType::f16 && type != DType::bf16; }

class Planner {
 public:
  Planner(const TableReader& table, const Options& options, const std::string& path)
      : table_(table),
        path_(path),
        columns_(words_in(options.text("columns"))),
        types_(given_types(options.text("types"))),
        vector_key_(vector_field(options.text("vector"))) {}

  TablePlan plan() {
    require_columns();
    for (std::size_t i = 0; i < table_.columns().size(); ++i)
      if (is_chosen(table_.columns()[i])) add(i);
    if (!vector_key_.name.empty() && !vector_)
      throw UsageError(fmt::format(
          "vector: '{}' has no column of numbers to combine; columns that the key 'types' names are not combined", path_));
    if (plan_.fields.empty()) throw UsageError(fmt::format("'{}' has no column that can be read", path_));
    require_unique_names();
    plan_.blocks = table_.blocks();
    return std::move(plan_);
  }

 private:
  void require_columns() const {
    std::vector<std::string> names;
    for (const auto& column : table_.columns()) names.push_back(column.name);
    require_known(columns_, types_, names, path_);
  }

  bool is_chosen(const TableColumn& column) const {
    const bool is_named = std::ranges::find(columns_, column.name) != columns_.end();
    if (column.unreadable.empty()) return is_named || columns_.empty();
    const auto why = fmt::format("the column {} has type {}: {}", in_words(column), column.file_type, column.unreadable);
    if (is_named) throw UsageError("columns: " + why);
    if (columns_.empty()) info_once("left out: " + why);
    return false;
  }

  void add(std::size_t number) {
    const auto& column = table_.columns()[number];
    if (!is_utf8(column.name) || column.name.empty())
      throw UsageError(fmt::format("'{}': the name of column {} is empty or not UTF-8", path_, number));
    if (!column.meaning.empty())
      info_once(fmt::format("the column '{}' ({}) is read as {}: {}", excerpt(column.name, 60), column.file_type,
                            name_of(column.dtype), column.meaning));
    const auto given = types_.find(column.name);
    const bool is_given = given != types_.end();
    if (!vector_key_.name.empty() && !is_given && is_single_number(column) && column.meaning.empty())
      return add_to_vector(number);
    const auto type = is_given ? type_of(column, given->second) : inferred_type(number);
    plan_.fields.push_back(
        {{column.name, type, column.shape, column.varies}, {{number, 0}}, !is_given && type == DType::f64});
  }

  void add_to_vector(std::size_t number) {
    if (!vector_) {
      vector_ = plan_.fields.size();
      plan_.fields.push_back({{vector_key_.name, vector_key_.dtype, {0}, false}, {}, false});
    }
    plan_.vector_columns.push_back(table_.columns()[number].name);
    auto& [field, parts, must_be_exact] = plan_.fields[*vector_];
    parts.push_back({number, size_of(vector_key_.dtype) * static_cast<std::size_t>(field.sample_shape[0]++)});
  }

  DType type_of(const TableColumn& column, ValueType given) const {
    const auto require = [&](bool condition, std::string_view why) {
      if (!condition)
        throw UsageError(fmt::format("types: the column {} has the type {}, {}", in_words(column), column.file_type, why));
    };
    if (given.is_text) {
      require(column.is_text, "which is not text");
      return column.dtype;
    }
    require(is_single_number(column), "which cannot be converted");
    require(column.dtype != DType::f16 || is_real(given.dtype), "which can only become f32 or f64");
    return given.dtype;
  }

  DType inferred_type(std::size_t number) const {
    const auto& column = table_.columns()[number];
    if (!is_single_number(column) || !is_integer_type(column.dtype) || !column.is_nullable) return column.dtype;
    try {
      return table_.has_missing_values(number) ? DType::f64 : column.dtype;
    } catch (const io::StorageError&) {
      throw;
    } catch (const Error& error) {
      throw UsageError(fmt::format("the column {} cannot be read: {}", in_words(column), error.what()));
    }
  }

  void require_unique_names() const {
    std::set<std::string> names;
    for (const auto& [field, parts, must_be_exact] : plan_.fields)
      if (!names.insert(field.name).second)
        throw UsageError(fmt::format("{}'{}': two of its columns have the name '{}'",
                                     field.name == vector_key_.name ? "vector: " : "", path_, excerpt(field.name, 60)));
  }

  std::string in_words(const TableColumn& column) const {
    return fmt::format("'{}' of '{}'", excerpt(column.name, 60), path_);
  }

  const TableReader& table_;
  const std::string& path_;
  std::vector<std::string> columns_;  // the key `columns`
  GivenTypes types_;                  // the key `types`
  VectorField vector_key_;            // the key `vector`
  TablePlan plan_;
  std::optional<std::size_t> vector_;  // index of the vector field
};

}  // namespace

std::vector<OptionSpec> table_options() {
  return {
      {.key = "columns", .default_value = "", .help = "names of the columns to read, separated by commas; default: all"},
      {.key = "types",
       .default_value = "",
       .help =
           "types for columns of numbers whose type must differ from the type in the file, for example label:i64, x:f32",
       .form = "COLUMN:TYPE, ..."},
      {.key = "vector",
       .default_value = "",
       .help = "name of a field that combines all columns of single numbers that the key 'types' does not name: "
               "x, or x:TYPE (default f32)"},
      {.key = "chunk_cache",
       .type = OptionType::bytes,
       .default_value = "128 MiB",
       .help = "memory for decoded blocks of all files of a rank; at least two blocks of all columns are kept"}};
}

TablePlan table_plan(const TableReader& table, const Options& options, const std::string& path) {
  return Planner(table, options, path).plan();
}

FileContent content_of(const TablePlan& plan) {
  FileContent content;
  content.vector_columns = plan.vector_columns;
  content.index = packed(plan);
  for (const auto rows : plan.blocks) {
    content.samples += rows;
    content.together = std::max(content.together, rows);
  }
  for (const auto& planned : plan.fields) content.fields.push_back(planned.field);
  return content;
}

TablePlan plan_of(const FileContent& content) {
  auto plan = unpacked<TablePlan>(content.index);
  for (std::size_t i = 0; i < plan.fields.size(); ++i) plan.fields[i].field = content.fields.at(i);
  return plan;
}

}  // namespace trainrt::data
