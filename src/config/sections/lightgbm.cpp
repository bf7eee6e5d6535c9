#include "config/section.hpp"

namespace trainrt::config::plugins {

extern const Section lightgbm;
const Section lightgbm{
    .name = "lightgbm",
    .order = 9,
    .help = "library of the train function lightgbm",
    .keys = {
        key(&LightgbmKeys::library,
            {.key = "lightgbm.library",
             .type = OptionType::path,
             .help = "LightGBM's shared library (lib_lightgbm.so), or a folder of Python packages (site-packages) that "
                     "contains it; by default the lib_lightgbm.so in the system's library path"})}};

}  // namespace trainrt::config::plugins
