#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/reshape/operation.hpp"
#include "data/reshape/steps.hpp"
#include "data/source/row_ranges.hpp"

namespace trainrt::data {

namespace {

class SubsetAfter final : public Step {
 public:
  explicit SubsetAfter(const std::string& text) : text_(text_of_rows(text)), rows_(text_) {
    if (rows_.size() == 0) throw UsageError("it chooses no samples");
  }
  Effect effect() const override { return Effect::chooses; }

  Result apply(const DatasetPlan& input) const override {
    const auto samples = input.source->size();
    if (rows_.max() >= samples)
      throw UsageError(fmt::format("it chooses sample {}, but there are {}, numbered from 0", rows_.max(), samples));
    return chosen(input, rows_,
                  fmt::format("{} of {} samples, with digest {}", rows_.size(), samples, io::digest_of(text_)));
  }

 private:
  std::string text_;
  RowRanges rows_;
};

std::shared_ptr<const Step> make_subset_after(const std::string& text) { return std::make_shared<SubsetAfter>(text); }

}  // namespace

namespace plugins {

extern const OperationKind subset_after{
    .name = "subset_after",
    .help = "like subset, but chooses from the samples that where, explode, sequence, pack and every make",
    .form = "ranges FIRST:END and single numbers, separated by commas, or @FILE with them",
    .make = make_subset_after,
    .order = 3,
    .reads_file = true};

}  // namespace plugins

}  // namespace trainrt::data
