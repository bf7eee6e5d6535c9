#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/batches/field_walk.hpp"
#include "data/reshape/operation.hpp"
#include "data/source/row_ranges.hpp"
#include "data/source/selected_source.hpp"
#include "io/files/digest.hpp"

namespace trainrt::data {

namespace {

/// As the key `rows`, but of the samples that other operations have made.
class Keep final : public Operation {
 public:
  explicit Keep(const std::string& text) : text_(text_of_rows(text)), rows_(text_) {
    if (rows_.size() == 0) throw UsageError("it chooses no samples");
  }

  std::vector<Dataset::Field> fields(const std::vector<Dataset::Field>& before) const override { return before; }

  void apply(DatasetImpl& dataset) const override {
    const auto samples = dataset.source->size();
    if (rows_.largest() >= samples)
      throw UsageError(fmt::format("it chooses sample {}, and there are {}, numbered from 0", rows_.largest(), samples));
    dataset.filter_text +=
        fmt::format("{}{} of {} samples, with digest {}", dataset.filter_text.empty() ? "" : ", of these ", rows_.size(),
                    samples, io::digest_of(text_));
    dataset.source = std::make_shared<SelectedSource<RowRanges>>(std::move(dataset.source), rows_);
  }

 private:
  std::string text_;
  RowRanges rows_;
};

std::unique_ptr<Operation> make_keep(const std::string& text) { return std::make_unique<Keep>(text); }

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
