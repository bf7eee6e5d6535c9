#include <trainrt/dataset.hpp>

#include <utility>

#include <trainrt/error.hpp>
#include <trainrt/preprocessor.hpp>

#include "core/output/log.hpp"
#include "data/batches/batches_impl.hpp"
#include "data/batches/draw_by_weight.hpp"
#include "data/batches/filter.hpp"
#include "data/preprocess/fit.hpp"
#include "data/preprocess/preprocessed_source.hpp"
#include "data/reshape/flat_map.hpp"
#include "data/reshape/pack.hpp"
#include "data/reshape/window.hpp"
#include "data/text/field_wishes.hpp"

namespace trainrt {

namespace {

BatchesImpl& owner_of(BatchesImpl* owner, std::string_view name) {
  if (owner == nullptr)
    throw UsageError("field '" + std::string(name) + "' of a batch that belongs to no dataset: take batches from a range");
  return *owner;
}

}  // namespace

TensorView Batch::field(std::string_view name) const { return owner_of(owner_, name).field(*this, name); }

TensorView Batch::varying(std::string_view name, std::size_t sample) const {
  return owner_of(owner_, name).varying(*this, name, sample);
}

Random Batch::random(std::size_t sample) const { return owner_of(owner_, "").random(*this, sample); }

std::string_view Batch::text(std::string_view name, std::size_t sample) const {
  const auto values = varying(name, sample);
  if (values.dtype != DType::u8)
    throw UsageError("field '" + std::string(name) + "' holds " + std::string(name_of(values.dtype)) + ", no text");
  return {static_cast<const char*>(values.data), values.bytes()};
}

const Batch& Batches::iterator::operator*() const { return impl_->batch(); }

Batches::iterator& Batches::iterator::operator++() {
  if (!impl_->advance()) impl_ = nullptr;
  return *this;
}

void Batches::count_only(std::uint64_t batches) { impl_->count_only(batches); }

bool Batches::has_ready() const { return impl_->has_ready(); }

Batches::iterator Batches::begin() { return iterator(impl_->begin() ? impl_.get() : nullptr); }

namespace {

data::BatchPlan whole_epoch(const DatasetImpl& dataset, std::size_t batch_size, Remainder remainder) {
  if (batch_size == 0) throw UsageError("dataset '" + dataset.name + "': a batch size of 0; it must be at least 1");
  return {dataset.source->size(), 0, data::split_of(dataset, batch_size), remainder};
}

}  // namespace

Batches Epoch::batches(std::size_t batch_size, Remainder remainder) const {
  const auto plan = whole_epoch(*dataset_, batch_size, remainder);
  if (plan.batch_count() == 0)
    log::run_warning("dataset '" + dataset_->name + "' (" + std::to_string(dataset_->source->size()) +
                     " samples) gives no batch of " + std::to_string(batch_size) + " samples on each of " +
                     std::to_string(dataset_->shard.size) + " ranks");
  return Batches(std::make_shared<BatchesImpl>(dataset_, number_, batch_size, remainder));
}

Batches Epoch::range(std::uint64_t first, std::uint64_t count, std::size_t batch_size) const {
  const auto size = dataset_->source->size();
  if (batch_size == 0 || first > size || count > size - first)
    throw UsageError("dataset '" + dataset_->name + "': " + std::to_string(count) + " samples from " +
                     std::to_string(first) + " on in batches of " + std::to_string(batch_size) + "; it has " +
                     std::to_string(size) + ", and a batch has at least one");
  return Batches(std::make_shared<BatchesImpl>(dataset_, number_, batch_size, data::Slice{first, count}));
}

std::uint64_t Dataset::size() const { return impl_->source->size(); }

std::uint64_t Dataset::batch_count(std::size_t batch_size, Remainder remainder) const {
  return whole_epoch(*impl_, batch_size, remainder).batch_count();
}

std::int64_t Dataset::next_epoch() const {
  const auto& cursor = impl_->cursor;
  return impl_->restored && cursor.in_progress ? cursor.epoch : cursor.epoch + 1;
}

const std::vector<Dataset::Field>& Dataset::fields() const { return data::fields_of(*impl_); }

namespace {

class FunctionMap final : public data::SampleMap {
 public:
  FunctionMap(Dataset::Field made, Dataset::SampleFunction function)
      : made_(std::move(made)), function_(std::move(function)) {}
  const Dataset::Field& field() const override { return made_; }
  void apply(std::span<const std::byte> from, std::span<std::byte> to, Random& random) const override {
    function_(from, to, random);
  }

 private:
  Dataset::Field made_;
  Dataset::SampleFunction function_;
};

}  // namespace

void Dataset::map(std::string_view field, Field made, SampleFunction function) try {
  auto maps = impl_->maps ? *impl_->maps : data::SampleMaps(impl_->source->fields());
  const auto at = data::find_field(maps.fields(), field);
  made.name = field;
  made.varies = false;
  maps.add(at, "map", std::make_shared<const FunctionMap>(std::move(made), std::move(function)));
  impl_->maps = std::make_shared<const data::SampleMaps>(std::move(maps));
} catch (const UsageError& error) {
  throw UsageError("dataset '" + impl_->name + "': " + error.what());
}

void Dataset::filter(std::string_view field, const SamplePredicate& keeps) try {
  data::filter(*impl_, field, keeps);
} catch (const UsageError& error) {
  throw UsageError("dataset '" + impl_->name + "': " + error.what());
}

void Dataset::flat_map(std::string_view field, Field made, const FlatFunction& function) try {
  data::flat_map(*impl_, field, std::move(made), function);
} catch (const UsageError& error) {
  throw UsageError("dataset '" + impl_->name + "': " + error.what());
}

void Dataset::pack(std::string_view field, std::uint64_t length, std::optional<std::int64_t> separator) try {
  data::pack(*impl_, field, length, separator);
} catch (const UsageError& error) {
  throw UsageError("dataset '" + impl_->name + "': " + error.what());
}

void Dataset::window(const Windows& windows) try { data::window(*impl_, windows); } catch (const UsageError& error) {
  throw UsageError("dataset '" + impl_->name + "': " + error.what());
}

void Dataset::draw_by_weight(std::string_view field) try {
  data::draw_by_weight(*impl_, field);
} catch (const UsageError& error) {
  throw UsageError("dataset '" + impl_->name + "': " + error.what());
}

void Dataset::preprocess(const Preprocessor& preprocessor) try {
  if (impl_->maps && impl_->maps->changes_any())
    throw UsageError(
        "preprocess() comes before map(), and before what keys change at random: it needs the values as they are before");
  impl_->source = data::preprocessed(impl_->source, *preprocessor.impl_);
  impl_->maps = std::make_shared<const data::SampleMaps>(impl_->source->fields());
} catch (const UsageError& error) {
  throw UsageError("dataset '" + impl_->name + "': " + error.what());
}

PreprocessorImpl Dataset::fitted(const PreprocessorImpl& preprocessor) const try {
  return data::fitted(preprocessor, *impl_);
} catch (const UsageError& error) {
  throw UsageError("dataset '" + impl_->name + "': " + error.what());
}

}  // namespace trainrt
