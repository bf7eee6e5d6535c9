#include "frameworks/trees/table_layout.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "frameworks/trees/categories.hpp"
#include "frameworks/trees/parameters.hpp"
#include "frameworks/trees/row_lists.hpp"
#include "frameworks/trees/values.hpp"

namespace trainrt::frameworks::trees {

namespace {

using Json = nlohmann::json;
using Field = Dataset::Field;

constexpr std::size_t max_named = 40;  // maximum number of fields in a message

std::string names_of(const std::vector<Field>& fields) {
  std::string names;
  for (std::size_t i = 0; i < std::min(fields.size(), max_named); ++i) names += (i == 0 ? "" : ", ") + fields[i].name;
  return names + (fields.size() > max_named ? ", ..." : "");
}

const Field& field_named(const Dataset& data, const std::string& set, const std::string& name, const std::string& key) {
  const auto found = std::ranges::find(data.fields(), name, &Field::name);
  if (found != data.fields().end()) return *found;
  throw UsageError(fmt::format("[data.{}] has no field '{}', which [loop] {} names; it has: {}", set, name, key,
                               names_of(data.fields())));
}

bool is_text(const Field& field) { return field.varies && field.dtype == DType::u8; }

void require_number(const Field& field, const std::string& set, const std::string& key, bool is_single) {
  if (field.varies || !is_known_number(field.dtype))
    throw UsageError(
        fmt::format("[data.{}] field '{}', which [loop] {} names, holds {}, but must hold numbers: f64, f32, i64, "
                    "i32, i16, i8, u8 or bool{}",
                    set, field.name, key,
                    is_text(field) ? "text"
                    : field.varies ? "lists of varying length"
                                   : name_of(field.dtype),
                    field.varies ? "" : fmt::format(" (cast = {}: f32 in [data.{}])", field.name, set)));
  if (is_single && element_count(field.sample_shape) != 1)
    throw UsageError(
        fmt::format("[data.{}] field '{}', which [loop] {} names, has the shape {} per row, but must have one number", set,
                    field.name, key, to_string(field.sample_shape)));
}

void require_list(const Field& field, const std::string& set) {
  if (!is_list(field) || !is_known_number(field.dtype))
    throw UsageError(fmt::format("[data.{}] field '{}', which [loop] sparse names, must hold a list of numbers in each row",
                                 set, field.name));
}

/// Throws UsageError unless the field holds texts. The type of a column is inferred separately for each dataset, so a
/// column of texts in [data.train] may hold numbers in another dataset.
void require_text(const Field& field, const std::string& set) {
  if (is_text(field)) return;
  throw UsageError(fmt::format(
      "[data.{}] field '{}' holds numbers, but in [data.train] it holds texts: set types = {}:text in [data.{}]", set,
      field.name, field.name, set));
}

/// Adds the columns of a field to the features of `layout`.
void add_features(TableLayout& layout, const Field& field, bool is_categorical) {
  const auto count = is_text(field) ? 1 : static_cast<std::size_t>(element_count(field.sample_shape));
  const bool is_scalar = field.sample_shape.empty() || is_text(field);
  for (std::size_t i = 0; i < count; ++i)
    layout.features.push_back({.name = is_scalar ? field.name : fmt::format("{}_{}", field.name, i),
                               .field = field.name,
                               .element = i,
                               .is_categorical = is_categorical});
  if (field.dtype == DType::f64 || field.dtype == DType::i64 || field.dtype == DType::i32) layout.dtype = DType::f64;
}

class Chooser {
 public:
  Chooser(Context& ctx, const Dataset& data)
      : data_(data),
        categorical_(words_of(ctx.config<std::string>("categorical", ""))),
        chosen_(words_of(ctx.config<std::string>("features", ""))) {}

  void choose(TableLayout& layout) const {
    for (const auto& name : chosen_) add(layout, field_named(data_, "train", name, "features"), "features");
    for (const auto& field : data_.fields())
      if (chosen_.empty() && is_wanted(layout, field)) add(layout, field, "features");
    for (const auto& name : categorical_)
      if (field_named(data_, "train", name, "categorical");
          std::ranges::find(layout.features, name, &Feature::field) == layout.features.end())
        throw UsageError(fmt::format("[loop] categorical names '{}', which is not a feature", name));
    layout.columns = layout.features.size();
    if (layout.columns == 0)
      throw UsageError("[data.train] has no field of numbers except those that other keys of [loop] name; it has: " +
                       names_of(data_.fields()));
  }

 private:
  bool is_named_categorical(const std::string& name) const {
    return std::ranges::find(categorical_, name) != categorical_.end();
  }
  bool is_wanted(const TableLayout& layout, const Field& field) const {
    if (std::ranges::any_of(row_fields, [&](const RowField& other) { return layout.*other.field == field.name; }))
      return false;
    return (!field.varies && is_known_number(field.dtype)) || is_named_categorical(field.name);
  }
  void add(TableLayout& layout, const Field& field, const std::string& key) const {
    const bool is_categorical = is_named_categorical(field.name);
    if (is_text(field) && !is_categorical)
      throw UsageError(fmt::format("[data.train] field '{}' holds texts: name it in [loop] categorical, too", field.name));
    if (!is_text(field)) require_number(field, "train", key, false);
    add_features(layout, field, is_categorical);
  }

  const Dataset& data_;
  std::vector<std::string> categorical_, chosen_;
};

void choose_sparse(TableLayout& layout, Context& ctx, const Dataset& data) {
  const auto names = words_of(ctx.config<std::string>("sparse", ""));
  if (names.size() != 2)
    throw UsageError(
        "[loop] sparse must name two fields, separated by a comma: first the field with the column numbers, then the field "
        "with their values");
  layout.sparse_indices = names[0];
  layout.sparse_values = names[1];
  for (const auto& name : names) require_list(field_named(data, "train", name, "sparse"), "train");
  const auto given = ctx.config<int>("columns");
  layout.columns = given > 0 ? static_cast<std::uint64_t>(given) : counted_columns(ctx, data, names[0]);
}

/// Returns the key of [loop] that names the field of initial scores; nullptr if there is no such field.
const char* margin_key(const TableLayout& layout) {
  if (layout.margin().empty()) return nullptr;
  return layout.base_margin.empty() ? "init_score" : "base_margin";
}

void require_margins(const TableLayout& layout, const Field& field, const std::string& set, const std::string& key) {
  const auto count = static_cast<std::uint64_t>(element_count(field.sample_shape));
  if (count != layout.margins)
    throw UsageError(
        fmt::format("[data.{}] field '{}', which [loop] {} names, has {} numbers per row, but in [data.train] {}", set,
                    field.name, key, count, layout.margins));
}

Json json_of(const Feature& feature) {
  Json json{{"name", feature.name}, {"field", feature.field}, {"element", feature.element}};
  if (feature.is_categorical) json["categorical"] = true;
  if (!feature.categories.empty()) json["categories"] = feature.categories;
  return json;
}

Feature feature_from(const Json& json) {
  return {.name = json.at("name"),
          .field = json.at("field"),
          .element = json.at("element"),
          .is_categorical = json.value("categorical", false),
          .categories = json.value("categories", std::vector<std::string>())};
}

}  // namespace

std::string TableLayout::to_json() const try {
  Json list = Json::array();
  for (const auto& feature : features) list.push_back(json_of(feature));
  Json json{{"features", list},        {"columns", columns},      {"indices", sparse_indices},
            {"values", sparse_values}, {"dtype", name_of(dtype)}, {"margins", margins}};
  for (const auto& [key, field] : row_fields) json[key] = this->*field;
  return json.dump();  // throws for invalid UTF-8; replacing invalid bytes would change a category
} catch (const Json::exception& error) {
  throw UsageError(fmt::format(
      "cannot save the layout of the model's columns: the name of a field, or a category, is not UTF-8: {}", error.what()));
}

TableLayout TableLayout::from_json(const std::string& text) try {
  const auto json = Json::parse(text);
  TableLayout layout;
  for (const auto& feature : json.at("features")) layout.features.push_back(feature_from(feature));
  layout.columns = json.at("columns");
  for (const auto& [key, field] : row_fields)
    layout.*field = json.value(key, "");  // a checkpoint of an older version lacks some of these keys
  layout.margins = json.value("margins", std::uint64_t{0});
  layout.sparse_indices = json.at("indices");
  layout.sparse_values = json.at("values");
  layout.dtype = dtype_from(json.at("dtype").get<std::string>());
  return layout;
} catch (const Json::exception& error) {
  throw Error(fmt::format("the checkpoint has an invalid description of the model's columns: {}", error.what()));
}

TableLayout chosen_layout(Context& ctx) {
  const auto data = ctx.dataset("train");
  TableLayout layout;
  for (const auto& [key, field] : row_fields) layout.*field = ctx.config<std::string>(key, "");
  if (layout.lower_bound.empty() != layout.upper_bound.empty())
    throw UsageError("[loop] label_lower_bound and label_upper_bound: set both of them, or neither");
  if (const auto* const key = margin_key(layout))
    layout.margins =
        static_cast<std::uint64_t>(element_count(field_named(data, "train", layout.margin(), key).sample_shape));
  if (!ctx.config<std::string>("sparse", "").empty())
    choose_sparse(layout, ctx, data);
  else
    Chooser(ctx, data).choose(layout);
  return layout;
}

TableLayout layout_of(Context& ctx) {
  auto layout = chosen_layout(ctx);
  const auto data = ctx.dataset("train");
  gather_categories(ctx, data, layout);  // must precede require_fields(), which uses the categories
  require_fields(layout, data, "train", true);
  return layout;
}

std::string left_out_of(const TableLayout& layout, Context& ctx) {
  if (layout.is_sparse() || !ctx.config<std::string>("features", "").empty()) return "";
  std::string names;
  bool has_texts = false;
  for (const auto& field : ctx.dataset("train").fields()) {
    const auto is_named = [&](const RowField& other) { return layout.*other.field == field.name; };
    if (std::ranges::any_of(row_fields, is_named) ||
        std::ranges::find(layout.features, field.name, &Feature::field) != layout.features.end())
      continue;
    has_texts |= is_text(field);
    const auto kind = is_text(field) ? "text" : field.varies ? "lists of varying length" : name_of(field.dtype);
    names += fmt::format("{}'{}' ({})", names.empty() ? "" : ", ", field.name, kind);
  }
  return names + (has_texts ? "; to use texts as categories, name their fields in [loop] categorical" : "");
}

std::string difference_of(const TableLayout& before, const TableLayout& now) {
  const auto changed = [](const char* key, const std::string& old_text, const std::string& new_text) {
    return old_text == new_text ? "" : fmt::format("{} is '{}', but was '{}'", key, new_text, old_text);
  };
  for (const auto& [key, field] : row_fields)
    if (const auto text = changed(key, before.*field, now.*field); !text.empty()) return text;
  const auto lists_of = [](const TableLayout& layout) { return layout.sparse_indices + ", " + layout.sparse_values; };
  if (const auto text = changed("sparse", lists_of(before), lists_of(now)); !text.empty()) return text;
  if (before.margins != now.margins)
    return fmt::format("{}: {} numbers per row, but there were {}", margin_key(now), now.margins, before.margins);
  if (before.columns != now.columns)
    return fmt::format("features: {} columns, but there were {}", now.columns, before.columns);
  const auto text_of = [](const Feature& feature) {
    return feature.name + (feature.is_categorical ? " (categorical)" : "");
  };
  for (std::size_t i = 0; i < before.features.size(); ++i)
    if (const auto one = text_of(before.features[i]), two = text_of(now.features[i]); one != two)
      return fmt::format("features: column {} is {}, but was {}", i, two, one);
  return "";
}

void require_margin_each(const TableLayout& layout, std::uint64_t outputs) {
  const auto* const key = margin_key(layout);
  if (key == nullptr || layout.margins == outputs) return;
  throw UsageError(fmt::format("[data.train] field '{}', which [loop] {} names, has {} number{} per row, but must have {}",
                               layout.margin(), key, layout.margins, layout.margins == 1 ? "" : "s",
                               outputs == 1 ? "one" : fmt::format("{}, one per class", outputs)));
}

void require_fields(const TableLayout& layout, const Dataset& data, const std::string& name, bool with_targets) {
  for (const auto& [key, member] : row_fields) {
    const auto& field = layout.*member;
    if (field.empty() || !(with_targets || member == &TableLayout::base_margin)) continue;
    const bool is_margin = &field == &layout.margin();
    require_number(field_named(data, name, field, key), name, key, !is_margin);
    if (is_margin) require_margins(layout, field_named(data, name, field, key), name, key);
  }
  for (const auto& field : {layout.sparse_indices, layout.sparse_values})
    if (!field.empty()) require_list(field_named(data, name, field, "sparse"), name);
  for (const auto& feature : layout.features) {
    const auto& field = field_named(data, name, feature.field, "features");
    if (!feature.categories.empty()) {
      require_text(field, name);
      continue;
    }
    require_number(field, name, "features", false);
    if (feature.element >= static_cast<std::size_t>(element_count(field.sample_shape)))
      throw UsageError(fmt::format("[data.{}] field '{}' has {} numbers per row, but in [data.train] it had more", name,
                                   field.name, element_count(field.sample_shape)));
  }
}

}  // namespace trainrt::frameworks::trees
