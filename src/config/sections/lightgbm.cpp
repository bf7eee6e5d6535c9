#include "config/section.hpp"

namespace trainrt::config::plugins {

extern const Section lightgbm;
const Section lightgbm{
    .name = "lightgbm",
    .order = 9,
    .help = "where the train function lightgbm finds its library",
    .keys = {key(
        &LightgbmKeys::library,
        {.key = "lightgbm.library",
         .type = OptionType::path,
         .help = "LightGBM's shared library (lib_lightgbm.so), or a folder of Python packages that has it (site-packages); "
                 "without it lib_lightgbm.so where the system finds libraries"})}};

}  // namespace trainrt::config::plugins
