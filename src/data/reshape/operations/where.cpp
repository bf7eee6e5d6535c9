#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/batches/field_scan.hpp"
#include "data/reshape/operation.hpp"
#include "data/reshape/steps.hpp"
#include "data/source/row_bitmap.hpp"
#include "data/text/field_specs.hpp"
#include "data/text/row_predicate.hpp"

namespace trainrt::data {

namespace {

/// The condition of a filter, for samples with known fields.
struct Condition {
  std::vector<std::size_t> fields;  ///< indices of the fields whose values are passed to `keeps`
  std::function<bool(std::span<const TensorView>)> keeps;
};

/// Returns one bit per sample, which is set if the sample is kept. Each rank reads the samples of its share of the 64-bit
/// words of the bitmap. Then all ranks exchange their words. Collective over the plan's team.
RowBitmap kept_rows(const DatasetPlan& input, const Condition& condition) {
  constexpr auto word_bits = RowBitmap::word_bits;
  const auto samples = input.source->size();
  std::vector<std::int64_t> bits((samples + word_bits - 1) / word_bits);
  const auto [first, end] = input.team.own_share(bits.size());
  const auto scan = [&, first = first, end = end] {
    const auto note = [&](std::uint64_t sample, std::span<const TensorView> values) {
      if (condition.keeps(values)) bits[sample / word_bits] |= std::int64_t{1} << (sample % word_bits);
    };
    scan_fields(input, condition.fields, "filter", first * word_bits, std::min(end * word_bits, samples), note);
  };
  input.team.combine(scan, bits);
  return RowBitmap({bits.begin(), bits.end()});
}

/// Returns the step of a filter. `description` names the filter in messages: "the filter". `make_condition` returns the
/// filter's condition for samples with the given fields. It must throw UsageError if the fields are unsuitable, for
/// example if a field that the condition uses does not exist.
Step filter_by(std::string description, std::function<Condition(const Fields& fields)> make_condition) {
  const auto apply = [description = std::move(description), make_condition](const DatasetPlan& input) {
    auto rows = kept_rows(input, make_condition(input.source->fields()));
    const auto before = input.source->size();
    if (rows.size() == 0) throw UsageError(fmt::format("{} removes all {} samples", description, before));
    const auto digest = io::digest_of(std::as_bytes(std::span(rows.bits())));
    auto identity = fmt::format("{} of {} samples with digest {}", rows.size(), before, digest);
    return chosen(input, std::move(rows), std::move(identity));
  };
  const auto fields = [make_condition = std::move(make_condition)](const Fields& before) {
    make_condition(before);
    return before;
  };
  return {Effect::thins, fields, apply};
}

}  // namespace

Step filter_step(const std::string& field, const Dataset::SamplePredicate& keeps) {
  return filter_by("the filter", [field, keeps](const Fields& fields) {
    return Condition{{find_field(fields, field)},
                     [keeps](std::span<const TensorView> values) { return keeps(values.front()); }};
  });
}

Step where_step(const std::string& condition) {
  require_condition(condition);  // reports a syntax error now, although the fields are not known yet
  return filter_by(fmt::format("the condition '{}'", excerpt(condition, 60)), [condition](const Fields& fields) {
    auto predicate = std::make_shared<const RowPredicate>(condition, fields);
    return Condition{predicate->fields(),
                     [predicate](std::span<const TensorView> values) { return predicate->holds(values); }};
  });
}

namespace plugins {

extern const OperationKind where{.name = "where",
                                 .help =
                                     "keeps the samples that meet a condition on numbers and texts, "
                                     "such as price > 0 and (city == \"Bern\" or not sold); "
                                     "x[3] is one number of an array. Applied before the keys that make new samples",
                                 .form = "CONDITION",
                                 .make = where_step,
                                 .order = -3};

}  // namespace plugins

}  // namespace trainrt::data
