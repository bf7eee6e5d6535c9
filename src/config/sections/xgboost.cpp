#include "config/section.hpp"

namespace trainrt::config::plugins {

extern const Section xgboost;
const Section xgboost{
    .name = "xgboost",
    .order = 8,
    .help = "where the train function xgboost finds its library",
    .keys = {key(
        &XgboostKeys::library,
        {.key = "xgboost.library",
         .type = OptionType::path,
         .help = "XGBoost's shared library (libxgboost.so), or a folder of Python packages that has it (site-packages); "
                 "without it the system's (libxgboost.so, of the package libxgboost0)"})}};

}  // namespace trainrt::config::plugins
