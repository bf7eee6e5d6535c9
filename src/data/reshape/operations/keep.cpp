#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/reshape/operation.hpp"
#include "data/reshape/steps.hpp"
#include "data/source/row_ranges.hpp"

namespace trainrt::data {

namespace {

class Keep final : public Step {
 public:
  explicit Keep(const std::string& text) : text_(text_of_rows(text)), rows_(text_) {
    if (rows_.size() == 0) throw UsageError("it chooses no samples");
  }
  Effect effect() const override { return Effect::chooses; }

  Result apply(const DatasetPlan& input) const override {
    const auto samples = input.source->size();
    if (rows_.largest() >= samples)
      throw UsageError(fmt::format("it chooses sample {}, and there are {}, numbered from 0", rows_.largest(), samples));
    return chosen(input, rows_,
                  fmt::format("{} of {} samples, with digest {}", rows_.size(), samples, io::digest_of(text_)));
  }

 private:
  std::string text_;
  RowRanges rows_;
};

std::shared_ptr<const Step> make_keep(const std::string& text) { return std::make_shared<Keep>(text); }

}  // namespace

namespace plugins {

extern const OperationKind keep{.name = "keep",
                                .help =
                                    "as rows, but of the samples that explode, sequence and pack have made: which "
                                    "of them count, in this order",
                                .form = "FIRST:END, single numbers, several between commas, or @FILE with such",
                                .make = make_keep,
                                .place = 3,
                                .reads_file = true};

}  // namespace plugins

}  // namespace trainrt::data
