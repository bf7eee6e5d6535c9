#pragma once
#include <cstdint>
#include <string>

#include <trainrt/context.hpp>

#include "frameworks/trees/parameters.hpp"
#include "frameworks/trees/table_layout.hpp"
#include "frameworks/trees/xgboost/xgboost_library.hpp"
#include "frameworks/trees/xgboost/xgboost_log.hpp"

namespace trainrt::frameworks::trees {

/// XGBoost's parameters with the defaults of the train function: tree_method = hist, seed = run.seed, seed_per_iteration =
/// true, by which a round's random numbers hang on its number, and validate_parameters = true. UsageError for what cannot
/// be trained with here.
Parameters completed(Parameters given, const Context& ctx, int threads);

/// Hands them to a booster, each word of eval_metric by itself. UsageError for values that XGBoost refuses.
void set_parameters(const XgboostLibrary& library, XgboostLibrary::Handle booster, const Parameters& parameters);

/// Before any data is read: UsageError for values that XGBoost refuses, and for parameters that it does not know or use,
/// with the name that may be meant. Not collective.
void require_known(const XgboostLibrary& library, XgboostLog& log, const Parameters& parameters, const TableLayout& layout);

/// UsageError if base_margin has another count of numbers a row than the model has outputs, as far as the parameters tell.
void require_margins(const Parameters& parameters, const TableLayout& layout);

/// UsageError if the objective is survival:aft without bounds of the label, or another one without a label.
void require_bounds(const Parameters& parameters, const TableLayout& layout);

/// The names between quotes in XGBoost's warning `Parameters: { "a", "b" } might not be used`; none if there is no such
/// warning. Pure.
std::vector<std::string> names_not_used(std::string_view warning);

/// booster = gblinear
bool is_linear(const Parameters& parameters);

/// Whether rows or columns are sampled, by generators of which XGBoost's models say nothing.
bool draws_samples(const Parameters& parameters);

}  // namespace trainrt::frameworks::trees
