#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/reshape/key_join.hpp"
#include "data/reshape/operation.hpp"
#include "data/reshape/operation_words.hpp"

namespace trainrt::data {

namespace {

constexpr std::string_view join_form = "NAME on FIELD [and FIELD] [inner or left], NAME on FIELD, and so on";

/// Fields of other datasets, one after the other.
class Joins final : public Operation {
 public:
  struct One {
    std::string dataset;
    JoinKey key;
  };
  explicit Joins(std::vector<One> all) : all_(std::move(all)) {}

  std::vector<std::string> others() const override {
    std::vector<std::string> names;
    for (const auto& one : all_) names.push_back(one.dataset);
    return names;
  }

  std::vector<Dataset::Field> fields(const std::string& name, const std::vector<Dataset::Field>& before,
                                     const FieldsOfOthers& others) const override {
    auto fields = before;
    for (const auto& one : all_) fields = joined_fields(fields, name, others.at(one.dataset), one.dataset, one.key);
    return fields;
  }

  void apply(DatasetImpl& dataset, const OfOthers& others) const override {
    for (const auto& one : all_) join_by_key(dataset, *others.at(one.dataset), one.key);
  }

 private:
  std::vector<One> all_;
};

std::unique_ptr<Operation> make_joins(const std::string& text) {
  std::vector<Joins::One> all;
  for (const auto& part : words_in(text)) {
    OperationWords words(part, join_form);
    Joins::One one{words.take(), {}};
    if (words.take() != "on") throw UsageError(fmt::format("'{}' has not the form: {}", part, join_form));
    one.key.fields.push_back(words.take());
    while (words.has("and")) one.key.fields.push_back(words.take());
    if (words.has("inner"))
      one.key.unmatched = Dataset::Unmatched::leave_out;
    else if (words.has("left"))
      one.key.unmatched = Dataset::Unmatched::missing;
    words.end();
    all.push_back(std::move(one));
  }
  return std::make_unique<Joins>(std::move(all));
}

}  // namespace

namespace plugins {

extern const OperationKind join{
    .name = "join",
    .help =
        "adds the fields of another dataset of the config: those of its one sample that has "
        "the same in a field or several, whole numbers or texts. A sample without one is an error, "
        "left out (inner), or has missing values (left): NaN, or a text or list of nothing",
    .form = join_form,
    .make = make_joins,
    .place = -1,
    .mixes_sources = true};

}  // namespace plugins

}  // namespace trainrt::data
