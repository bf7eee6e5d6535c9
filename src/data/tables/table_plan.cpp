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

/// What the keys say.
struct TableWishes {
  std::vector<std::string> columns;
  GivenTypes types;
  std::string vector;
  DType vector_type = DType::f32;
};

TableWishes table_wishes(const Options& options) {
  TableWishes wishes{
      .columns = words_in(options.text("columns")), .types = given_types(options.text("types")), .vector = {}};
  const auto text = options.text("vector");
  const auto colon = text.rfind(':');
  wishes.vector = trim(std::string_view(text).substr(0, colon));
  if (colon == text.npos) return wishes;
  const auto type = value_type(trim(std::string_view(text).substr(colon + 1)));
  if (type.is_text) throw UsageError(fmt::format("vector: '{}': a vector is of numbers", excerpt(text, 60)));
  wishes.vector_type = type.dtype;
  return wishes;
}

bool is_single_number(const TableColumn& column) { return !column.varies && column.shape.empty(); }

bool is_whole_type(DType type) { return !is_real(type) && type != DType::f16 && type != DType::bf16; }

class Planner {
 public:
  Planner(const TableFile& table, const Options& options, const std::string& path)
      : table_(table), wishes_(table_wishes(options)), path_(path) {}

  TablePlan plan() {
    require_names();
    for (std::size_t i = 0; i < table_.columns().size(); ++i)
      if (is_chosen(table_.columns()[i])) add(i);
    if (!wishes_.vector.empty() && !vector_)
      throw UsageError(fmt::format("vector: '{}' has no column of numbers whose type is not given", path_));
    if (plan_.fields.empty()) throw UsageError(fmt::format("'{}' has no column that can be read", path_));
    require_one_name_each();
    plan_.blocks = table_.blocks();
    return std::move(plan_);
  }

 private:
  void require_names() const {
    std::vector<std::string> names, typed;
    for (const auto& column : table_.columns()) names.push_back(column.name);
    for (const auto& [name, type] : wishes_.types) typed.push_back(name);
    require_known(wishes_.columns, names, "columns", path_);
    require_known(typed, names, "types", path_);
  }

  bool is_chosen(const TableColumn& column) const {
    const bool is_named = std::ranges::find(wishes_.columns, column.name) != wishes_.columns.end();
    if (column.refused.empty()) return is_named || wishes_.columns.empty();
    const auto why =
        fmt::format("the column '{}' of '{}' is {}: {}", excerpt(column.name, 60), path_, column.kind, column.refused);
    if (is_named) throw UsageError("columns: " + why);
    if (wishes_.columns.empty()) info_once("left out: " + why);
    return false;
  }

  void add(std::size_t number) {
    const auto& column = table_.columns()[number];
    if (!is_utf8(column.name) || column.name.empty())
      throw UsageError(fmt::format("'{}': the name of column {} is empty, or no UTF-8", path_, number));
    if (!column.meaning.empty())
      info_once(fmt::format("the column '{}' ({}) is read as {}: {}", excerpt(column.name, 60), column.kind,
                            name_of(column.dtype), column.meaning));
    const auto given = wishes_.types.find(column.name);
    const bool is_given = given != wishes_.types.end();
    if (!wishes_.vector.empty() && !is_given && is_single_number(column) && column.meaning.empty())
      return add_to_vector(number);
    const auto type = is_given ? type_of(column, given->second) : natural_type(number);
    const bool must_fit = !is_given && type == DType::f64;
    plan_.fields.push_back({{column.name, type, column.shape, column.varies}, {{number, 0}}, must_fit});
  }

  void add_to_vector(std::size_t number) {
    if (!vector_) {
      vector_ = plan_.fields.size();
      plan_.fields.push_back({{wishes_.vector, wishes_.vector_type, {0}, false}, {}, false});
    }
    plan_.vector_columns.push_back(table_.columns()[number].name);
    auto& [field, parts, must_fit] = plan_.fields[*vector_];
    parts.push_back({number, size_of(wishes_.vector_type) * static_cast<std::size_t>(field.sample_shape[0]++)});
  }

  DType type_of(const TableColumn& column, ValueType given) const {
    const auto wrong = [&](std::string_view what) {
      return UsageError(
          fmt::format("types: the column '{}' of '{}' is {}, {}", excerpt(column.name, 60), path_, column.kind, what));
    };
    if (given.is_text && !column.is_text) throw wrong("which is no text");
    if (!given.is_text && !is_single_number(column)) throw wrong("whose type cannot be chosen");
    if (!given.is_text && column.dtype == DType::f16 && !is_real(given.dtype)) throw wrong("which can become f32 or f64");
    return given.is_text ? column.dtype : given.dtype;
  }

  DType natural_type(std::size_t number) const {
    const auto& column = table_.columns()[number];
    if (!is_single_number(column) || !is_whole_type(column.dtype) || !column.may_lack) return column.dtype;
    try {
      return table_.lacks_values(number) ? DType::f64 : column.dtype;
    } catch (const io::StorageError&) {
      throw;
    } catch (const Error& error) {
      throw UsageError(
          fmt::format("the column '{}' of '{}' cannot be read: {}", excerpt(column.name, 60), path_, error.what()));
    }
  }

  void require_one_name_each() const {
    std::set<std::string> names;
    for (const auto& [field, parts, must_fit] : plan_.fields)
      if (!names.insert(field.name).second)
        throw UsageError(fmt::format("{}'{}': two of its columns have the name '{}'",
                                     field.name == wishes_.vector ? "vector: " : "", path_, excerpt(field.name, 60)));
  }

  const TableFile& table_;
  TableWishes wishes_;
  const std::string& path_;
  TablePlan plan_;
  std::optional<std::size_t> vector_;
};

}  // namespace

std::vector<OptionSpec> table_options() {
  return {{.key = "columns", .default_value = "", .help = "names of the columns to read, between commas; all by default"},
          {.key = "types",
           .default_value = "",
           .help = "types of columns of numbers, as label:i64, x:f32, where they are to be others than in the file",
           .form = "COLUMN:TYPE, ..."},
          {.key = "vector",
           .default_value = "",
           .help = "name of one field that all single numbers become whose type is not in types: x, or x:TYPE (f32)"},
          {.key = "chunk_cache",
           .type = OptionType::bytes,
           .default_value = "128 MiB",
           .help = "memory for decoded blocks, of all files of a rank; two blocks of all columns at least"}};
}

TablePlan table_plan(const TableFile& table, const Options& options, const std::string& path) {
  return Planner(table, options, path).plan();
}

FileContent content_of(const TablePlan& plan) {
  FileContent content;
  content.vector_columns = plan.vector_columns;
  PackedWriter packed;
  packed.number(plan.blocks.size());
  for (const auto rows : plan.blocks) {
    packed.number(rows);
    content.samples += rows;
    content.together = std::max(content.together, rows);
  }
  for (const auto& [field, parts, must_fit] : plan.fields) {
    content.fields.push_back(field);
    packed.number(must_fit ? 1 : 0);
    packed.number(parts.size());
    for (const auto& part : parts) {
      packed.number(part.column);
      packed.number(part.offset);
    }
  }
  content.index = packed.take();
  return content;
}

TablePlan plan_of(const FileContent& content) {
  TablePlan plan;
  PackedReader packed(content.index);
  for (auto count = packed.number(); count > 0; --count) plan.blocks.push_back(packed.number());
  for (const auto& field : content.fields) {
    auto& made = plan.fields.emplace_back(TableField{field, {}});
    made.must_fit = packed.number() != 0;
    for (auto count = packed.number(); count > 0; --count) {
      const auto column = packed.number();
      made.parts.push_back({column, packed.number()});
    }
  }
  return plan;
}

}  // namespace trainrt::data
