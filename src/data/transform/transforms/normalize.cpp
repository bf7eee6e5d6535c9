#include "data/transform/standardize.hpp"

namespace trainrt::data::plugins {

extern const Transform normalize{
    .name = "normalize",
    .help =
        "makes a field f32 with mean 0 and deviation 1: subtracts MEAN and divides by DEVIATION; "
        "u8 values are divided by 255 first. Images may have the mean of each channel, then the deviation of each channel",
    .arguments = "MEAN DEVIATION",
    .make = standardized};

}  // namespace trainrt::data::plugins
