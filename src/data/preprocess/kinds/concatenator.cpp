#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/preprocess/gathering.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

/// The type that holds the numbers of both, as numpy.result_type() says.
DType type_of_both(DType a, DType b) {
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

/// Columns side by side become one of vectors, the last one, in place of them.
class Concatenator final : public Gathering {
 public:
  explicit Concatenator(Parameters& given)
      : Gathering(given.names("columns"), {given.text("output_column_name", "concat_out")}),
        flattens_(given.flag("flatten", false)) {
    const auto dtype = given.any("dtype");
    given.flag("raise_if_missing", true);
    if (dtype.is_null()) return;
    dtype_ = dtype_from(dtype.is_string() ? dtype.get<std::string>() : dtype.dump());
    if (!is_plain_number(*dtype_) || *dtype_ == DType::boolean)
      throw UsageError("dtype must be f64, f32, i64, i32, i16, i8 or u8");
  }

  Fields fields(const Fields& before) const override {
    auto own = own_fields(before);
    std::int64_t width = 0;
    for (const auto& field : own) {
      if (field.varies || !is_plain_number(field.dtype))
        throw UsageError(fmt::format("column '{}' holds {}; only numbers can be put side by side", field.name,
                                     is_text(field) ? "texts"
                                     : field.varies ? "arrays of several lengths"
                                                    : name_of(field.dtype)));
      if (!field.sample_shape.empty() && !flattens_)
        throw UsageError(fmt::format("column '{}' holds arrays of the shape {}; flatten = true takes their numbers",
                                     field.name, to_string(field.sample_shape)));
      width += element_count(field.sample_shape);
    }
    auto after = without_own(before);
    after.push_back({outputs().front(), result_type(own), {width}, false});
    return after;
  }

 private:
  DType result_type(const Fields& own) const {
    auto type = own.front().dtype;
    for (const auto& field : own) type = type_of_both(type, field.dtype);
    return dtype_.value_or(type);
  }

  bool is_own(const std::string& name) const {
    return name == outputs().front() || std::find(columns().begin(), columns().end(), name) != columns().end();
  }

  Fields without_own(Fields fields) const {
    fields.erase(std::remove_if(fields.begin(), fields.end(), [this](const auto& field) { return is_own(field.name); }),
                 fields.end());
    return fields;
  }

  void change(Table& table) const override {
    Fields own;
    for (const auto* column : own_columns(table)) own.push_back(column->field);
    std::int64_t width = 0;
    for (const auto& field : own) width += element_count(field.sample_shape);
    Table::Column made{{outputs().front(), result_type(own), {width}, false}, {}, {}};
    made.values.resize(table.samples * sample_bytes(made.field));
    with_numbers(made.field.dtype, made.values, [&](auto out) {
      using T = std::remove_const_t<typename decltype(out)::element_type>;
      std::size_t first = 0;
      for (const auto* column : own_columns(table)) {
        const auto each = static_cast<std::size_t>(element_count(column->field.sample_shape));
        copy<T>(*column, each, reinterpret_cast<T*>(made.values.data()) + first, static_cast<std::size_t>(width));
        first += each;
      }
    });
    table.columns.erase(std::remove_if(table.columns.begin(), table.columns.end(),
                                       [this](const auto& column) { return is_own(column.field.name); }),
                        table.columns.end());
    table.columns.push_back(std::move(made));
  }

  template <class T>
  static void copy(const Table::Column& from, std::size_t each, T* to, std::size_t stride) {
    with_numbers(from.field.dtype, from.values, [&](auto values) {
      for (std::size_t i = 0; i < values.size(); ++i)
        to[i / each * stride + i % each] = converted<T>(values[i], from.field.name);
    });
  }

  /// What a whole number cannot hold is an error, and not what the processor makes of it.
  template <class T, class From>
  static T converted(From value, const std::string& column) {
    if constexpr (std::is_integral_v<T> && std::is_floating_point_v<From>) {
      const auto number = static_cast<double>(value);
      const double least = static_cast<double>(std::numeric_limits<T>::min()),
                   end = std::ldexp(1.0, std::numeric_limits<T>::digits);
      if (!(number >= least && number < end)) refuse(number, column, dtype_of<T>::value);
    }
    if constexpr (std::is_integral_v<T> && std::is_integral_v<From>)
      if (!std::in_range<T>(value)) refuse(value, column, dtype_of<T>::value);
    return static_cast<T>(value);
  }

  template <class Number>
  [[noreturn]] static void refuse(Number number, const std::string& column, DType dtype) {
    throw UsageError(fmt::format("column '{}' holds {}, which is no {}", column, number, name_of(dtype)));
  }

  bool flattens_;
  std::optional<DType> dtype_;
};

}  // namespace

namespace plugins {

extern const PreprocessorKind concatenator{
    .name = "Concatenator",
    .help = "puts columns of numbers side by side: one column of vectors",
    .parameters = "columns, output_column_name, dtype, flatten",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<Concatenator>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
