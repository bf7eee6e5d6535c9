#include <trainrt/dataset.hpp>

#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/preprocessor.hpp>

#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "data/batches/batches_impl.hpp"
#include "data/preprocess/preprocessor_impl.hpp"
#include "data/reshape/steps.hpp"
#include "data/text/in_context.hpp"

namespace trainrt {

const Batch& Batches::iterator::operator*() const { return impl_->batch(); }

Batches::iterator& Batches::iterator::operator++() {
  if (!impl_->advance()) impl_ = nullptr;
  return *this;
}

void Batches::count_only(std::uint64_t batches) { impl_->count_only(batches); }

bool Batches::has_ready() const { return impl_->has_ready(); }

Batches::iterator Batches::begin() { return iterator(impl_->begin() ? impl_.get() : nullptr); }

namespace {

data::BatchPlan plan_of_epoch(const data::DatasetPlan& plan, std::size_t batch_size, Remainder remainder) {
  if (batch_size == 0) throw UsageError("dataset '" + plan.name + "': the batch size is 0; it must be at least 1");
  return {plan.source->size(), 0, plan.split_of(batch_size), remainder};
}

/// Returns call(). If it throws UsageError, adds the name of the dataset to the message.
template <class Call>
auto in_dataset(const DatasetImpl& dataset, const Call& call) {
  return data::in_context("dataset '" + dataset.plan().name + "'", call);
}

}  // namespace

Batches Epoch::batches(std::size_t batch_size, Remainder remainder) const {
  const auto& plan = dataset_->plan();
  if (plan_of_epoch(plan, batch_size, remainder).batch_count() == 0)
    log::run_warning(fmt::format("dataset '{}' ({}) is too small for one batch of {}{}", plan.name,
                                 counted(static_cast<std::int64_t>(plan.source->size()), "sample"),
                                 counted(static_cast<std::int64_t>(batch_size), "sample"),
                                 plan.shard.size == 1 ? "" : fmt::format(" on each of {} ranks", plan.shard.size)));
  return Batches(std::make_shared<BatchesImpl>(dataset_, number_, batch_size, remainder));
}

Batches Epoch::range(std::uint64_t first, std::uint64_t count, std::size_t batch_size) const {
  const auto size = dataset_->source()->size();
  if (batch_size == 0 || first > size || count > size - first)
    throw UsageError(
        fmt::format("dataset '{}': cannot read {} samples from sample {} on in batches of {}; "
                    "the dataset has {} samples, and a batch must have at least one",
                    dataset_->plan().name, count, first, batch_size, size));
  return Batches(std::make_shared<BatchesImpl>(dataset_, number_, batch_size, data::Slice{first, count}));
}

std::uint64_t Dataset::size() const { return impl_->source()->size(); }

std::uint64_t Dataset::batch_count(std::size_t batch_size, Remainder remainder) const {
  return plan_of_epoch(impl_->plan(), batch_size, remainder).batch_count();
}

std::int64_t Dataset::next_epoch() const { return impl_->walk().next_epoch(); }

const std::vector<Dataset::Field>& Dataset::fields() const { return impl_->plan().fields(); }

namespace {

void add_step(DatasetImpl& dataset, const char* name, const data::Step& step) {
  in_dataset(dataset, [&] { dataset.add(name, step); });
}

}  // namespace

void Dataset::map(std::string_view field, Field made, SampleFunction function) {
  in_dataset(*impl_, [&] {
    auto plan = impl_->plan();
    auto maps = plan.maps ? *plan.maps : data::FieldMaps(plan.source->fields());
    const auto at = maps.find(field);
    made.name = field;
    made.varies = false;
    maps.add(at, "map", {std::move(made), std::move(function)});
    plan.maps = std::make_shared<const data::FieldMaps>(std::move(maps));
    impl_->replace(std::move(plan));
  });
}

void Dataset::filter(std::string_view field, const SamplePredicate& keeps) {
  add_step(*impl_, "filter", data::filter_step(std::string(field), keeps));
}

void Dataset::filter(std::string_view condition) {
  in_dataset(*impl_, [&] { impl_->add("filter", data::where_step(std::string(condition))); });
}

void Dataset::flat_map(std::string_view field, Field made, const FlatFunction& function) {
  add_step(*impl_, "flat_map", data::flat_map_step(std::string(field), made, function));
}

void Dataset::pack(std::string_view field, std::uint64_t length, std::optional<std::int64_t> separator) {
  add_step(*impl_, "pack", data::pack_step(std::string(field), length, separator));
}

void Dataset::window(const Windows& windows) { add_step(*impl_, "window", data::window_step(windows)); }

void Dataset::draw_by_weight(std::string_view field) {
  add_step(*impl_, "draw_by_weight", data::draw_step(std::string(field)));
}

void Dataset::preprocess(const Preprocessor& preprocessor) {
  in_dataset(*impl_, [&] {
    auto plan = impl_->plan();
    if (plan.maps && plan.maps->changes_any())
      throw UsageError(
          "preprocess() cannot follow map() or random augmentations, "
          "because preprocessors need the values before these changes: "
          "call preprocess() before map(), and remove keys such as random_crop from the dataset's section");
    plan.source = data::preprocessed(plan.source, *preprocessor.impl_);
    plan.maps = std::make_shared<const data::FieldMaps>(plan.source->fields());
    impl_->replace(std::move(plan));
  });
}

PreprocessorImpl Dataset::fitted(const PreprocessorImpl& preprocessor) const {
  return in_dataset(*impl_, [&] { return data::fitted(preprocessor, impl_->plan()); });
}

}  // namespace trainrt
