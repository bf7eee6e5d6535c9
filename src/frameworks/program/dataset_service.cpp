#include "frameworks/program/dataset_service.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "frameworks/program/fields.hpp"

namespace trainrt::program {

namespace {

Json json_of(const Dataset::Field& field) {
  return {{"name", field.name}, {"dtype", name_of(field.dtype)}, {"shape", field.sample_shape}, {"varies", field.varies}};
}

Remainder remainder_from(const Json& body) {
  return choice_field<Remainder>(body, "remainder",
                                 {{"pad", Remainder::pad}, {"uneven", Remainder::uneven}, {"drop", Remainder::drop}});
}

/// Those that the message names, in its order; all if it names none.
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
      throw UsageError(fmt::format("dataset '{}' has no field '{}'; there are: {}", of, text, names));
    }
    wanted.push_back(*found);
  }
  return wanted;
}

/// A number for each sample, that it has in this epoch on any rank.
Json draws_of(const Batch& batch) {
  auto draws = Json::array();
  for (std::size_t sample = 0; sample < batch.size(); ++sample) draws.push_back(batch.random(sample).next_u64());
  return draws;
}

}  // namespace

std::optional<Json> DatasetService::reply(const Message& message) {
  if (message.op == "data_look") return look(message);
  if (message.op == "data_begin") return begin(message);
  if (message.op == "data_next") return next(message);
  if (message.op == "data_taken") return taken(message);
  if (message.op == "data_end") return end(message);
  return std::nullopt;
}

Dataset DatasetService::dataset(const Message& message) const {
  const auto name = text_field(message.body, "name");
  if (auto found = find_(name)) return *found;
  throw UsageError(fmt::format("there is no dataset '{}'", name));
}

Json DatasetService::look(const Message& message) const {
  const auto found = find_(text_field(message.body, "name"));
  if (!found) return {{"is_missing", true}};
  auto fields = Json::array();
  for (const auto& field : found->fields()) fields.push_back(json_of(field));
  return {{"samples", found->size()}, {"fields", std::move(fields)}};
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

std::map<std::int64_t, DatasetService::Walk>::iterator DatasetService::walk(const Message& message) {
  const auto number = number_field(message.body, "walk");
  const auto found = walks_.find(number);
  if (found == walks_.end()) throw UsageError(fmt::format("train.program: no walk {} over a dataset is under way", number));
  return found;
}

/// The memory that the message names by its number, or brings.
SharedMemory& DatasetService::slot(const Message& message) {
  const auto number = number_field(message.body, "slot");
  if (message.file)
    slots_[number] = SharedMemory(message.file, static_cast<std::size_t>(number_field(message.body, "memory")));
  return slots_[number];
}

Json DatasetService::next(const Message& message) {
  const auto found = walk(message);
  auto& [number, walk] = *found;
  auto& memory = slot(message);
  if (std::exchange(walk.is_handed_over, false)) {
    if (walk.at)
      ++*walk.at;
    else
      walk.at = walk.batches.begin();
  }
  if (*walk.at == walk.batches.end()) {
    if (!walk.is_ahead) walks_.erase(found);
    return {{"end", true}};
  }
  const auto& batch = **walk.at;
  const BatchCopy copy(batch, walk.fields);
  if (copy.bytes() > memory.size()) return {{"room", copy.bytes()}};
  copy.write(memory.data());
  walk.is_handed_over = true;
  auto places = Json::array();
  for (const auto& place : copy.places()) places.push_back({place.at, place.values, place.ends_at});
  Json answer = {{"samples", batch.size()}, {"weight", batch.weight()}, {"places", std::move(places)}};
  if (walk.has_draws) answer["draws"] = draws_of(batch);
  return answer;
}

Json DatasetService::taken(const Message& message) {
  walk(message)->second.batches.count_only(static_cast<std::uint64_t>(number_field(message.body, "batches")));
  return Json::object();
}

/// Of a walk that is left before its end, too.
Json DatasetService::end(const Message& message) {
  walks_.erase(number_field(message.body, "walk"));
  return Json::object();
}

}  // namespace trainrt::program
