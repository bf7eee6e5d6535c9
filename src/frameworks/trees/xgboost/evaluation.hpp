#pragma once
#include <string_view>

#include "frameworks/trees/booster.hpp"

namespace trainrt::frameworks::trees {

/// XGBoost's line about a round, "[3]\ttrain-logloss:0.5\tvalid-logloss:0.6": names as they stand there. Numbers have all
/// their digits; nan and inf are numbers. Error for anything else. Pure.
Evaluation evaluation_from(std::string_view line);

/// As the early stopping of XGBoost's Python package has it: by how the metric's name (without that of the
/// set) begins. `major`: of the library's version; from 2 on "pre" is among them. Pure.
bool is_maximized(std::string_view metric, int major);

}  // namespace trainrt::frameworks::trees
