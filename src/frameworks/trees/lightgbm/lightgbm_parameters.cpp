#include "frameworks/trees/lightgbm/lightgbm_parameters.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "frameworks/trees/near_name.hpp"

namespace trainrt::frameworks::trees {

namespace {

/// A parameter that the train function sets itself, so that [loop] must not set it, and advice for the user.
struct DecidedParameter {
  std::string_view name, advice;
};

constexpr DecidedParameter decided_elsewhere[] = {
    {"num_iterations", "use num_boost_round"},
    {"early_stopping_round", "use early_stopping_rounds"},
    {"early_stopping_min_delta", "early stopping accepts any improvement"},
    {"first_metric_only", "early stopping uses the last metric of the last dataset"},
    {"is_provide_training_metric", "the metrics of [data.train] are always reported"},
    {"metric_freq", "each round is reported"},
    {"snapshot_freq", "the keys of [checkpoint] decide when the model is saved"},
    {"label_column", "use label"},
    {"weight_column", "use weight"},
    {"group_column", "use group"},
    {"ignore_column", "use features"},
    {"categorical_feature", "use categorical, with the names of fields"},
    {"data", "use [data.train]"},
    {"valid", "use a section [data.NAME] for each evaluation dataset"},
    {"header", "use header of [data.train]"},
    {"two_round", "data are always read in blocks"},
    {"pre_partition", "each rank reads its part of the data"},
    {"save_binary", "LightGBM writes no files here"},
    {"parser_config_file", "use the keys of [data.train]"},
    {"precise_float_parser", "use the keys of [data.train]"},
    {"config", "write the parameters as keys of [loop]"},
    {"task", "the task is training"},
    {"input_model", "use run.resume_from_checkpoint"},
    {"output_model", "the model is files/model.txt in each checkpoint"},
    {"output_result", "use trainrt predict"},
    {"convert_model", "the model is files/model.txt in each checkpoint"},
    {"convert_model_language", "the model is files/model.txt in each checkpoint"},
    {"num_machines", "it is always the number of ranks"},
    {"machines", "the ranks connect themselves"},
    {"machine_list_filename", "the ranks connect themselves"},
    {"local_listen_port", "LightGBM opens no port here"},
    {"time_out", "use failure.collective_timeout"},
    {"linear_tree", "LightGBM needs all rows of linear trees at once, but the train function reads them in blocks"},
};

/// LightGBM ignores the case of the values of these parameters, and of "true" and "false".
constexpr std::string_view names_of_any_case[] = {"boosting", "data_sample_strategy", "objective", "tree_learner"};

/// Converts a value as LightGBM does: removes quotation marks around it, and converts it to lower case if LightGBM ignores
/// case. The train function tests only converted values.
std::string normalized(std::string_view name, std::string value) {
  constexpr auto* marks = "'\"";
  value.erase(value.find_last_not_of(marks) + 1);
  value.erase(0, value.find_first_not_of(marks));
  auto lower = value;
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) { return std::tolower(letter); });
  const bool has_case = std::ranges::find(names_of_any_case, name) == std::end(names_of_any_case) &&
                        (name.ends_with("_filename") || (lower != "true" && lower != "false"));
  return has_case ? value : lower;
}

/// Removes the blanks after commas, which LightGBM does not accept: "binary, auc" becomes "binary,auc".
std::string one_word(const std::string& key, std::string_view value) {
  std::string word;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool is_blank = value[i] == ' ' || value[i] == '\t';
    if (!is_blank)
      word += value[i];
    else if (!word.empty() && word.back() != ',' && value.find_first_not_of(" \t", i) != std::string_view::npos &&
             value[value.find_first_not_of(" \t", i)] != ',')
      throw UsageError(fmt::format("[loop] {} = {}: blanks are only allowed after commas", key, value));
  }
  return word;
}

std::string alias_json(const LightgbmLibrary& library) {
  std::int64_t bytes = 0;
  library.check(library.dump_parameter_aliases(0, &bytes, nullptr));
  std::string json(static_cast<std::size_t>(bytes), '\0');
  library.check(library.dump_parameter_aliases(bytes, &bytes, json.data()));
  json.resize(json.find('\0'));
  return json;
}

/// Maps each name of a parameter to the parameter's main name in LightGBM.
std::map<std::string, std::string> names_of_parameters(const LightgbmLibrary& library) {
  const auto json = nlohmann::json::parse(alias_json(library), nullptr, false);
  if (!json.is_object()) throw Error(fmt::format("{} reports no parameters", library.path()));
  std::map<std::string, std::string> names;
  for (const auto& [name, aliases] : json.items()) {
    names[name] = name;
    for (const auto& alias : aliases) names[alias] = name;
  }
  return names;
}

[[noreturn]] void refuse_unknown(const std::string& key, const std::map<std::string, std::string>& names) {
  std::vector<std::string_view> all = {"label",     "weight",          "group",
                                       "features",  "categorical",     "sparse",
                                       "columns",   "num_boost_round", "early_stopping_rounds",
                                       "init_score"};
  for (const auto& [name, parameter] : names) all.push_back(name);
  const auto nearest = near_name(key, all);
  throw UsageError(fmt::format("[loop] {} is neither a key of the train function lightgbm nor a parameter of LightGBM{}",
                               key, nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest)));
}

}  // namespace

LightgbmParameters::LightgbmParameters(Context& ctx, const LightgbmLibrary& library, const TableLayout& layout,
                                       const Parameters& given) {
  take(names_of_parameters(library), given);
  refuse_decided();
  require_margins(layout);
  set_defaults(ctx, layout);
  for (const auto& [name, value] : values_) text_ += fmt::format("{}{}={}", text_.empty() ? "" : " ", name, value);
}

void LightgbmParameters::take(const std::map<std::string, std::string>& names, const Parameters& given) {
  for (const auto& [key, value] : given.all()) {
    const auto known = names.find(key);
    if (known == names.end()) refuse_unknown(key, names);
    if (const auto& [other, is_new] = keys_.emplace(known->second, key); !is_new)
      throw UsageError(fmt::format("[loop] {} and {} are the same parameter of LightGBM, {}: remove one of them",
                                   other->second, key, known->second));
    values_[known->second] = normalized(known->second, one_word(key, value));
  }
}

void LightgbmParameters::refuse_decided() const {
  for (const auto& [name, key] : keys_) {
    const auto decided = std::ranges::find(decided_elsewhere, std::string_view(name), &DecidedParameter::name);
    if (decided != std::end(decided_elsewhere) && (name != "linear_tree" || is_true(name)))
      throw UsageError(
          fmt::format("[loop] {}: the train function lightgbm does not accept {}: {}", key, name, decided->advice));
  }
  if (const auto* objective = find("objective"))
    for (const auto* const own : {"custom", "none", "null", "na"})
      if (*objective == own)
        throw UsageError(
            fmt::format("[loop] {} = {}: a custom objective needs a function in Python; choose an objective of "
                        "LightGBM",
                        keys_.find("objective")->second, *objective));
}

void LightgbmParameters::require_margins(const TableLayout& layout) const {
  if (layout.init_score.empty()) return;
  if (is("boosting", "rf") || is("boosting", "random_forest"))
    throw UsageError(fmt::format("[loop] {} = {}: LightGBM's random forests do not support init_score",
                                 keys_.find("boosting")->second, *find("boosting")));
  require_margin_each(layout, static_cast<std::uint64_t>(std::max(1.0, number("num_class", 1))));
}

void LightgbmParameters::set_defaults(Context& ctx, const TableLayout& layout) {
  const auto otherwise = [this](const char* name, std::string value) { values_.try_emplace(name, std::move(value)); };
  values_["num_iterations"] = std::to_string(ctx.config<int>("num_boost_round"));
  const auto cpus = cpus_of_rank(ctx);
  if (number("num_threads", 0) <= 0) values_["num_threads"] = std::to_string(cpus);
  otherwise("deterministic", "true");
  if (find("force_col_wise") == nullptr) otherwise("force_row_wise", "true");
  otherwise("enable_bundle", "false");
  std::string categorical;
  for (std::size_t column = 0; column < layout.features.size(); ++column)
    if (layout.features[column].is_categorical) categorical += fmt::format("{}{}", categorical.empty() ? "" : ",", column);
  if (!categorical.empty()) values_["categorical_feature"] = categorical;
  if (ctx.world_size() == 1) return;
  otherwise("tree_learner", "data");
  values_["num_machines"] = std::to_string(ctx.world_size());
  values_["pre_partition"] = "true";
  const auto& learner = *find("tree_learner");
  if (learner.starts_with("feature"))
    throw UsageError(fmt::format(
        "[loop] tree_learner = {}: every rank would need all rows, but each rank reads only a part; choose data "
        "or voting",
        learner));
  if (learner == "serial")
    throw UsageError("[loop] tree_learner = serial trains on one rank only; choose data or voting, or start one rank");
}

const std::string* LightgbmParameters::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

double LightgbmParameters::number(std::string_view name, double otherwise) const {
  const auto* value = find(name);
  return value == nullptr ? otherwise : std::strtod(value->c_str(), nullptr);
}

bool LightgbmParameters::is(std::string_view name, std::string_view value) const {
  const auto* found = find(name);
  return found != nullptr && *found == value;
}

bool LightgbmParameters::is_true(std::string_view name) const {
  const auto* value = find(name);
  return value != nullptr && (*value == "true" || *value == "+");  // LightGBM refuses other values
}

}  // namespace trainrt::frameworks::trees
