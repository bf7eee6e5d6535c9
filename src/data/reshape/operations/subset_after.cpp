#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/reshape/operation.hpp"
#include "data/reshape/steps.hpp"
#include "data/source/row_ranges.hpp"

namespace trainrt::data::plugins {

namespace {

Step make_subset_after(const std::string& text) {
  const auto ranges = text_of_rows(text);
  const RowRanges rows(ranges);
  if (rows.size() == 0) throw UsageError("the value chooses no samples; valid is a range such as 0:800");
  return {.effect = Effect::chooses, .apply = [rows, digest = io::digest_of(ranges)](const DatasetPlan& input) {
            const auto samples = input.source->size();
            if (rows.max() >= samples)
              throw UsageError(
                  fmt::format("the value chooses sample {}, but there are {}, numbered from 0", rows.max(), samples));
            return chosen(input, rows, fmt::format("{} of {} samples, with digest {}", rows.size(), samples, digest));
          }};
}

}  // namespace

extern const OperationKind subset_after{
    .name = "subset_after",
    .help = "like `subset`, but applied after the keys `where`, `explode`, `sequence`, `pack` and `every`",
    .form = "ranges FIRST:END and single numbers, separated by commas, or @FILE with them",
    .make = make_subset_after,
    .order = 3,
    .reads_file = true};

}  // namespace trainrt::data::plugins
