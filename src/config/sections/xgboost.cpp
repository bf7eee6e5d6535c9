#include "config/section.hpp"

namespace trainrt::config::plugins {

extern const Section xgboost;
const Section xgboost{
    .name = "xgboost",
    .order = 8,
    .help = "library of the train function xgboost",
    .keys = {key(&XgboostKeys::library,
                 {.key = "xgboost.library",
                  .type = OptionType::path,
                  .help = "XGBoost's shared library (libxgboost.so), or a folder of Python packages (site-packages) that "
                          "contains it; by default the system's libxgboost.so (package libxgboost0)"})}};

}  // namespace trainrt::config::plugins
