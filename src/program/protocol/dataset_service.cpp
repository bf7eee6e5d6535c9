#include "program/protocol/dataset_service.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/preprocessor.hpp>

#include "program/protocol/fields.hpp"

namespace trainrt::program {

namespace {

Json json_of(const Dataset::Field& field) {
  return {{"name", field.name}, {"dtype", name_of(field.dtype)}, {"shape", field.sample_shape}, {"varies", field.varies}};
}

Remainder remainder_from(const Json& body) {
  return choice_field<Remainder>(body, "remainder",
                                 {{"pad", Remainder::pad}, {"uneven", Remainder::uneven}, {"drop", Remainder::drop}});
}

/// Returns the dataset's fields that the message selects with "fields", in the order of the message. Returns all fields
/// if the message has no "fields".
std::vector<Dataset::Field> wanted_fields(const Json& body, const Dataset& dataset, const std::string& of) {
  if (!body.contains("fields")) return dataset.fields();
  std::vector<Dataset::Field> wanted;
  for (const auto& name : field(body, "fields", Json::value_t::array)) {
    const auto text = name.is_string() ? name.get<std::string>() : name.dump();
    const auto found = std::find_if(dataset.fields().begin(), dataset.fields().end(),
                                    [&text](const auto& known) { return known.name == text; });
    if (found == dataset.fields().end()) {
      std::string names;
      for (const auto& known : dataset.fields()) names += (names.empty() ? "" : ", ") + known.name;
      throw UsageError(fmt::format("dataset '{}' has no field '{}'; its fields are: {}", of, text, names));
    }
    wanted.push_back(*found);
  }
  return wanted;
}

/// Returns one random number for each sample of the batch. The number depends only on the sample and the epoch, and is
/// equal on every rank.
Json draws_of(const Batch& batch) {
  auto draws = Json::array();
  for (std::size_t sample = 0; sample < batch.size(); ++sample) draws.push_back(batch.random(sample).next_u64());
  return draws;
}

Json places_of(const BatchCopy& copy, std::size_t at) {
  auto places = Json::array();
  for (const auto& place : copy.offsets()) places.push_back({at + place.at, place.values, at + place.ends_at});
  return places;
}

}  // namespace

void DatasetService::note_taken(const Message& message) {
  if (!message.body.contains("taken")) return;
  for (const auto& [number, batches] : field(message.body, "taken", Json::value_t::object).items()) {
    std::int64_t walked = 0;
    const auto* const end = number.data() + number.size();
    if (std::from_chars(number.data(), end, walked).ptr != end || !batches.is_number_unsigned())
      throw UsageError(fmt::format("train.program: \"taken\" must map walk numbers to numbers of batches, not {} to {}",
                                   number, batches.dump()));
    walk(walked)->second.batches.count_only(batches.get<std::uint64_t>());
  }
}

/// Moves to the next batch, unless the current batch was not yet sent to the program. Returns false at the end of the
/// epoch.
bool DatasetService::Walk::move_on() {
  if (std::exchange(is_handed_over, false)) {
    if (at)
      ++*at;
    else
      at = batches.begin();
  }
  return *at != batches.end();
}

/// Copies the current batch to `memory` at byte `first`, advances `first` to the end of the copy, and returns the
/// answer that describes the batch. If `memory` is too small, returns nothing and sets `first` to the size of the batch
/// in bytes.
std::optional<Json> DatasetService::Walk::hand_over(const SharedMemory& memory, std::size_t& first) {
  const auto& batch = **at;
  const BatchCopy copy(batch, fields);
  if (copy.bytes() > memory.size() - std::min(first, memory.size())) {
    first = copy.bytes();
    return std::nullopt;
  }
  copy.write(memory.data() + first);
  is_handed_over = true;
  Json given = {{"samples", batch.size()}, {"weight", batch.weight()}, {"places", places_of(copy, first)}};
  if (has_draws) given["draws"] = draws_of(batch);
  first += copy.bytes();
  return given;
}

std::optional<Json> DatasetService::reply(const Message& message) {
  if (message.op == "data_look") return describe(message);
  if (message.op == "data_begin") return begin(message);
  if (message.op == "data_next") return next(message);
  if (message.op == "data_taken") return taken(message);
  if (message.op == "data_end") return end(message);
  if (message.op == "data_fit") return fit(message);
  return std::nullopt;
}

Dataset DatasetService::dataset(const Message& message) const {
  const auto name = text_field(message.body, "name");
  if (auto found = find_(name)) return *found;
  throw UsageError(fmt::format("dataset '{}' does not exist", name));
}

Json DatasetService::describe(const Message& message) const {
  const auto found = find_(text_field(message.body, "name"));
  if (!found) return {{"is_missing", true}};
  auto fields = Json::array();
  for (const auto& field : found->fields()) fields.push_back(json_of(field));
  return {{"samples", found->size()}, {"fields", std::move(fields)}};
}

Json DatasetService::fit(const Message& message) const {
  auto preprocessor = Preprocessor::from_json(field(message.body, "preprocessor", Json::value_t::object).dump());
  preprocessor.fit(dataset(message));
  return {{"preprocessor", Json::parse(preprocessor.to_json())}};
}

Json DatasetService::begin(const Message& message) {
  const auto& body = message.body;
  const auto data = dataset(message);
  const auto samples = static_cast<std::size_t>(number_field(body, "batch_size", 1));
  const auto remainder = remainder_from(body);
  const auto epoch = body.contains("epoch") ? number_field(body, "epoch") : data.next_epoch();
  auto fields = wanted_fields(body, data, text_field(body, "name"));
  const auto at = walks_.emplace(
      ++last_walk_, Walk{.batches = data.epoch(epoch).batches(samples, remainder), .fields = std::move(fields)});
  auto& walk = at.first->second;
  walk.is_ahead = flag_field(body, "ahead");
  walk.has_draws = flag_field(body, "draws");
  if (walk.is_ahead) walk.batches.count_only(0);
  return {{"walk", last_walk_}, {"epoch", epoch}, {"batches", data.batch_count(samples, remainder)}};
}

std::map<std::int64_t, DatasetService::Walk>::iterator DatasetService::walk(std::int64_t number) {
  const auto found = walks_.find(number);
  if (found == walks_.end())
    throw UsageError(fmt::format("train.program: walk {} over a dataset does not exist or has ended", number));
  return found;
}

/// Returns the shared memory of the program that has the number in the field "slot" of the message. If the message carries
/// a new memory, the new memory first replaces the memory with this number.
SharedMemory& DatasetService::slot(const Message& message) {
  const auto number = number_field(message.body, "slot");
  if (message.file)
    slots_[number] = SharedMemory(message.file, static_cast<std::size_t>(number_field(message.body, "memory")));
  return slots_[number];
}

Json DatasetService::next(const Message& message) {
  const auto found = walk(number_field(message.body, "walk"));
  auto& walk = found->second;
  auto& memory = slot(message);
  if (!walk.move_on()) {
    if (!walk.is_ahead) walks_.erase(found);
    return {{"end", true}};
  }
  if (message.body.contains("together"))
    return next_together(walk, memory, static_cast<std::size_t>(number_field(message.body, "together", 1)));
  std::size_t bytes = 0;
  if (auto given = walk.hand_over(memory, bytes)) return *std::move(given);
  return {{"room", bytes}};
}

/// Returns the current batch, and the next batches if they are already loaded. Stops when another batch of the same
/// size would increase the total to more than `max_bytes` bytes.
Json DatasetService::next_together(Walk& walk, SharedMemory& memory, std::size_t max_bytes) {
  auto given = Json::array();
  std::size_t bytes = 0;
  do {
    const auto at = bytes;
    auto batch = walk.hand_over(memory, bytes);
    if (!batch) break;
    given.push_back(*std::move(batch));
    if (bytes + (bytes - at) > max_bytes) break;  // another batch of this size would exceed `max_bytes`
  } while (walk.batches.has_ready() && walk.move_on());
  if (given.empty()) return {{"room", std::max(bytes, max_bytes)}};
  return {{"batches", std::move(given)}};
}

Json DatasetService::taken(const Message& message) {
  walk(number_field(message.body, "walk"))
      ->second.batches.count_only(static_cast<std::uint64_t>(number_field(message.body, "batches")));
  return Json::object();
}

Json DatasetService::end(const Message& message) {
  walks_.erase(number_field(message.body, "walk"));
  return Json::object();
}

}  // namespace trainrt::program
