#include "data/reshape/operation.hpp"
#include "data/reshape/steps.hpp"

namespace trainrt::data::plugins {

extern const OperationKind where{.name = "where",
                                 .help =
                                     "keeps the samples that meet a condition on numbers and texts, "
                                     "such as price > 0 and (city == \"Bern\" or not sold); "
                                     "x[3] is one number of an array. Applied before the keys that make samples",
                                 .form = "CONDITION",
                                 .make = where_step,
                                 .order = -3};

}  // namespace trainrt::data::plugins
