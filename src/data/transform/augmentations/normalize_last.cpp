#include "data/transform/transform.hpp"

namespace trainrt::data::plugins {

extern const Transform normalize_last{.name = "normalize_last",
                                      .help =
                                          "like normalize, but applied after all random changes except random_erasing, "
                                          "so that these changes get images that are not normalized",
                                      .arguments = "MEAN DEVIATION",
                                      .make = standardized,
                                      .order = 1};

}  // namespace trainrt::data::plugins
