#include <algorithm>

#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/batches/field_scan.hpp"
#include "data/reshape/steps.hpp"
#include "data/source/row_bitmap.hpp"
#include "data/text/field_specs.hpp"
#include "data/text/row_predicate.hpp"

namespace trainrt::data {

namespace {

using Keeps = std::function<bool(std::span<const TensorView>)>;

/// Determines which samples a filter keeps. Created for samples with certain fields.
struct Condition {
  std::vector<std::size_t> fields;  ///< numbers of the fields whose values `keeps` gets
  Keeps keeps;
};
/// Returns the filter's Condition for samples with these fields. Throws UsageError if the fields are unsuitable, for
/// example if a field that the condition uses does not exist.
using MakeCondition = std::function<Condition(const std::vector<Dataset::Field>& fields)>;

class Filter final : public Step {
 public:
  /// `description` names the filter in messages: "the filter".
  Filter(std::string description, MakeCondition make_condition)
      : description_(std::move(description)), make_condition_(std::move(make_condition)) {}
  Effect effect() const override { return Effect::thins; }

  std::vector<Dataset::Field> fields(const std::vector<Dataset::Field>& before) const override {
    make_condition_(before);
    return before;
  }

  Result apply(const DatasetPlan& input) const override {
    auto rows = kept_rows(input, make_condition_(input.source->fields()));
    const auto before = input.source->size();
    if (rows.size() == 0) throw UsageError(fmt::format("{} removes all {} samples", description_, before));
    const auto digest = io::digest_of(std::as_bytes(std::span(rows.bits())));
    auto identity = fmt::format("{} of {} samples with digest {}", rows.size(), before, digest);
    return chosen(input, std::move(rows), std::move(identity));
  }

 private:
  /// Returns one bit per sample, which is set if the sample is kept. Each rank reads the samples of its share of the
  /// 64-bit words, and gets the words of all ranks.
  static RowBitmap kept_rows(const DatasetPlan& input, const Condition& condition) {
    constexpr auto word_bits = RowBitmap::word_bits;
    const auto samples = input.source->size();
    std::vector<std::int64_t> bits((samples + word_bits - 1) / word_bits);
    const auto [first, end] = input.team.own_share(bits.size());
    const auto scan = [&, first = first, end = end] {
      const auto note = [&](std::uint64_t sample, std::span<const TensorView> values) {
        if (condition.keeps(values)) bits[sample / word_bits] |= std::int64_t{1} << (sample % word_bits);
      };
      FieldScan(input, condition.fields, "filter").scan(first * word_bits, std::min(end * word_bits, samples), note);
    };
    input.team.combine(scan, bits);
    return RowBitmap({bits.begin(), bits.end()});
  }

  std::string description_;
  MakeCondition make_condition_;
};

}  // namespace

std::shared_ptr<const Step> filter_step(std::vector<std::string> names, Keeps keeps) {
  return std::make_shared<Filter>("the filter", [names = std::move(names), keeps = std::move(keeps)](const auto& fields) {
    Condition condition{{}, keeps};
    for (const auto& name : names) condition.fields.push_back(find_field(fields, name));
    return condition;
  });
}

std::shared_ptr<const Step> where_step(const std::string& condition) {
  require_condition(condition);  // a syntax error is reported before the fields are known
  return std::make_shared<Filter>(
      fmt::format("the condition '{}'", excerpt(condition, 60)), [condition](const auto& fields) {
        auto predicate = std::make_shared<const RowPredicate>(condition, fields);
        return Condition{predicate->fields(),
                         [predicate](std::span<const TensorView> values) { return predicate->holds(values); }};
      });
}

}  // namespace trainrt::data
