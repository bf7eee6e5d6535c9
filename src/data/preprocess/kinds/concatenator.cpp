#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data::plugins {

namespace {

/// Returns the smallest type that can store the numbers of both types, like numpy.result_type().
DType common_type(DType a, DType b) {
  const auto order = [](DType type) {
    constexpr DType types[] = {DType::boolean, DType::u8,  DType::i8,  DType::i16,
                               DType::i32,     DType::i64, DType::f32, DType::f64};
    return std::find(std::begin(types), std::end(types), type) - std::begin(types);
  };
  if (order(a) > order(b)) std::swap(a, b);
  if (a == DType::u8 && b == DType::i8) return DType::i16;
  if (b == DType::f32 && (a == DType::i32 || a == DType::i64)) return DType::f64;
  return b;
}

/// Converts `value` to T. If T is an integer type, cuts off the fraction, and throws UsageError, which names the column, if
/// T cannot store the value.
template <class T, class From>
T converted_to(From value, const std::string& column) {
  bool fits = true;
  if constexpr (std::is_integral_v<T> && std::is_floating_point_v<From>)
    fits = value >= static_cast<double>(std::numeric_limits<T>::min()) &&
           value < std::ldexp(1.0, std::numeric_limits<T>::digits);
  else if constexpr (std::is_integral_v<T>)
    fits = std::in_range<T>(value);
  if (!fits)
    throw UsageError(fmt::format("column '{}' contains {}, which is out of the range of {}", column, value,
                                 name_of(dtype_of<T>::value)));
  return static_cast<T>(value);
}

class Concatenator final : public Combining {
 public:
  static constexpr ParameterSpec parameters[] = {
      {"columns", ParameterType::names,
       "names of the columns, in the order of their numbers in the new column; by default, all columns of the data",
       "null"},
      {"output_column_name", ParameterType::name, "name of the new column", "\"concat_out\""},
      {"dtype", ParameterType::element_type,
       "type of the new column's numbers; by default, the smallest type that can store those of all columns", "null"},
      {.name = "raise_if_missing",
       .type = ParameterType::flag,
       .help = "has no effect: a missing column is always an error",
       .default_value = "true",
       .is_ignored = true,
       .python_default = "false"},
      {"flatten", ParameterType::flag, "accept columns of arrays and use all their numbers", "false"},
      keyword_only(later({"exclude", ParameterType::names,
                          "names of columns to leave unchanged; the data may lack them. "
                          "An empty name means c0, which is a CSV file's first column if the header has no name for it",
                          "null"})),
      later({"include", ParameterType::names, "older name of `columns`; only one of the two may be given", "null"})};

  explicit Concatenator(const Parameters& given)
      : Combining(chosen(given), {given.text("output_column_name")}),
        excluded_(optional_names(given, "exclude")),
        flattens_(given.get<bool>("flatten")) {
    if (columns().empty() && !(given.json("columns").is_null() && given.json("include").is_null()))
      throw UsageError(fmt::format("exclude names all columns: {}", shown(excluded_)));
    const auto& dtype = given.json("dtype");
    if (dtype.is_null()) return;
    dtype_ = dtype_from(dtype.is_string() ? dtype.get<std::string>() : dtype.dump());
    if (!is_plain_number(*dtype_) || *dtype_ == DType::boolean)
      throw UsageError(fmt::format("dtype: {} is invalid; it must be {}", dtype.dump(), valid_values(parameters[2])));
  }

  Fields fields(const Fields& before) const override {
    const auto own = own_fields(before);
    if (own.empty()) throw UsageError(fmt::format("exclude names all columns of the data: {}", shown(excluded_)));
    for (const auto& field : own) {
      if (field.varies || !is_plain_number(field.dtype))
        throw UsageError(fmt::format("column '{}' contains {}; it must contain numbers", field.name,
                                     is_text(field) ? "texts"
                                     : field.varies ? "arrays of different lengths"
                                                    : name_of(field.dtype)));
      if (!field.sample_shape.empty() && !flattens_)
        throw UsageError(fmt::format("column '{}' contains arrays of shape {}; flatten = true accepts arrays", field.name,
                                     to_string(field.sample_shape)));
    }
    auto after = before;
    std::erase_if(after, [&](const auto& field) { return is_replaced(field.name, own); });
    after.push_back(output(own));
    return after;
  }

 private:
  static std::vector<std::string> optional_names(const Parameters& given, std::string_view name) {
    return given.json(name).is_null() ? std::vector<std::string>() : given.names(name);
  }

  /// Returns the names for a message, with quotes for the empty name.
  static std::string shown(std::vector<std::string> names) {
    std::ranges::replace(names, "", "''");
    return join(names);
  }

  /// Returns the names in the parameter `columns` or `include`, without those in `exclude`. Returns an empty list if
  /// neither parameter is set.
  static std::vector<std::string> chosen(const Parameters& given) {
    if (!given.json("columns").is_null() && !given.json("include").is_null())
      throw UsageError("columns and include are two names of one parameter; only one may be given");
    auto names = optional_names(given, given.json("columns").is_null() ? "include" : "columns");
    const auto excluded = optional_names(given, "exclude");
    std::erase_if(names, [&](const auto& name) { return is_excluded(excluded, name); });
    return names;
  }

  std::vector<std::string> inputs(const Fields& available) const override {
    if (!columns().empty()) return columns();
    std::vector<std::string> names;
    for (const auto& field : available)
      if (!is_excluded(excluded_, field.name)) names.push_back(field.name);
    return names;
  }

  /// Returns whether `excluded` contains the column `name`. An empty name in `excluded` means a first CSV column without a
  /// name, which csv_columns() calls c0.
  static bool is_excluded(const std::vector<std::string>& excluded, const std::string& name) {
    const auto has = [&](std::string_view each) { return std::ranges::find(excluded, each) != excluded.end(); };
    return has(name) || (name == "c0" && has(""));
  }

  Dataset::Field output(const Fields& own) const {
    auto type = own.front().dtype;
    std::int64_t width = 0;
    for (const auto& field : own) {
      type = common_type(type, field.dtype);
      width += element_count(field.sample_shape);
    }
    return {outputs().front(), dtype_.value_or(type), {width}, false};
  }

  /// Returns whether the new column replaces the existing column `name`. `own` are the fields of the input columns.
  bool is_replaced(const std::string& name, const Fields& own) const {
    return name == outputs().front() || std::ranges::find(own, name, &Dataset::Field::name) != own.end();
  }

  void change(Table& table) const override {
    Fields own;
    for (const auto* column : own_columns(table)) own.push_back(column->field);
    Table::Column result{output(own), {}, {}};
    const auto width = static_cast<std::size_t>(result.field.sample_shape.front());
    result.values.resize(table.samples * sample_bytes(result.field));
    with_numbers(result.field.dtype, result.values, [&](auto out) {
      using T = std::remove_const_t<typename decltype(out)::element_type>;
      auto* next = reinterpret_cast<T*>(result.values.data());
      for (const auto* column : own_columns(table)) {
        const auto each = static_cast<std::size_t>(element_count(column->field.sample_shape));
        copy<T>(*column, each, next, width);
        next += each;
      }
    });
    std::erase_if(table.columns, [&](const auto& column) { return is_replaced(column.field.name, own); });
    table.columns.push_back(std::move(result));
  }

  template <class T>
  static void copy(const Table::Column& from, std::size_t each, T* to, std::size_t stride) {
    with_numbers(from.field.dtype, from.values, [&](auto values) {
      for (std::size_t i = 0; i < values.size(); ++i)
        to[i / each * stride + i % each] = converted_to<T>(values[i], from.field.name);
    });
  }

  std::vector<std::string> excluded_;
  bool flattens_;
  std::optional<DType> dtype_;
};

}  // namespace

extern const PreprocessorKind concatenator{
    .name = "Concatenator",
    .help = "replace columns of numbers by one column of vectors, which becomes the last column",
    .parameters = Concatenator::parameters,
    .make = make_preprocessing<Concatenator>};

}  // namespace trainrt::data::plugins
