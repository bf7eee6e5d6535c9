#pragma once
#include <cstdint>
#include <string>

#include <trainrt/context.hpp>

#include "frameworks/trees/parameters.hpp"
#include "frameworks/trees/table_layout.hpp"
#include "frameworks/trees/xgboost/xgboost_library.hpp"
#include "frameworks/trees/xgboost/xgboost_log.hpp"

namespace trainrt::frameworks::trees {

/// Adds the defaults of the train function: tree_method = hist, seed = run.seed, nthread = `threads`, validate_parameters =
/// true, and seed_per_iteration = true, so that the random numbers of a round depend on its number. Throws UsageError for
/// parameters that the train function does not support.
Parameters with_defaults(Parameters given, const Context& ctx, int threads);

/// Sets the parameters of a booster; the items of eval_metric are set one by one. Throws UsageError for values that XGBoost
/// refuses.
void set_parameters(const XgboostLibrary& library, XgboostLibrary::Handle booster, const Parameters& parameters);

/// Throws UsageError for values that XGBoost refuses, and for parameters that it does not know or does not use. The message
/// names a similar parameter. Must be called before data are read. Not collective.
void require_known(const XgboostLibrary& library, XgboostLog& log, const Parameters& parameters, const TableLayout& layout);

/// Throws UsageError if the number of base_margin values per row differs from the number of outputs of the model.
/// Checks this only if the number of outputs can be determined from the parameters.
void require_margins(const Parameters& parameters, const TableLayout& layout);

/// Throws UsageError if the objective is survival:aft and [loop] names no bounds, or if it is another objective and [loop]
/// names no label.
void require_bounds(const Parameters& parameters, const TableLayout& layout);

/// Returns the names in XGBoost's warning `Parameters: { "a", "b" } might not be used`; empty if `warning` is another text.
/// Pure function.
std::vector<std::string> names_not_used(std::string_view warning);

/// Returns whether booster = gblinear.
bool is_linear(const Parameters& parameters);

/// Returns whether rows or columns are sampled at random. XGBoost's models do not contain the state of the random
/// generators that draw the samples.
bool draws_samples(const Parameters& parameters);

}  // namespace trainrt::frameworks::trees
