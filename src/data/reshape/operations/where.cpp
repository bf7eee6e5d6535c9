#include "data/batches/filter.hpp"
#include "data/reshape/operation.hpp"
#include "data/text/row_predicate.hpp"

namespace trainrt::data {

namespace {

/// Keeps the samples that meet a condition.
class Where final : public Operation {
 public:
  explicit Where(const std::string& condition) : condition_(condition) {
    parse_row_expression(condition_);  // a syntax error is reported before the fields are known
  }

  std::vector<Dataset::Field> fields(const std::string&, const std::vector<Dataset::Field>& before,
                                     const FieldsOfOthers&) const override {
    const RowPredicate resolves_fields(condition_, before);
    return before;
  }

  void apply(DatasetImpl& dataset, const OfOthers&) const override { filter(dataset, condition_); }

 private:
  std::string condition_;
};

std::unique_ptr<Operation> make_where(const std::string& text) { return std::make_unique<Where>(text); }

}  // namespace

namespace plugins {

extern const OperationKind where{.name = "where",
                                 .help =
                                     "keeps the samples that meet a condition on numbers and texts, such as price > 0 and "
                                     "(city == \"Bern\" or not sold); "
                                     "x[3] is one number of an array. The first of the keys that make samples",
                                 .form = "CONDITION",
                                 .make = make_where,
                                 .place = -3,
                                 .mixes_sources = true};

}  // namespace plugins

}  // namespace trainrt::data
