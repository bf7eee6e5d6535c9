#include "trainer/ending/broadcast_result.hpp"

#include <bit>
#include <utility>

#include "checkpoint/collective.hpp"
#include "comm/agreement.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt::trainer {

using checkpoint::Packer;
using checkpoint::Unpacker;

namespace {

// put() serializes the fields of a Result, with an overload for each type; take() deserializes them.

void put(Packer& to, const ResultCheckpoint& checkpoint);
void take(Unpacker& from, ResultCheckpoint& checkpoint);

void put(Packer& to, std::int64_t number) { to.put(number); }
void put(Packer& to, double number) { to.put(std::bit_cast<std::int64_t>(number)); }
void put(Packer& to, const std::string& text) { to.put(text); }
template <class T>
void put(Packer& to, const std::vector<T>& values) {
  to.put(values.size());
  for (const auto& value : values) put(to, value);
}
template <class... T>
void put(Packer& to, const std::variant<T...>& value) {
  to.put(value.index());
  std::visit([&](const auto& held) { put(to, held); }, value);
}
template <class T>
void put(Packer& to, const std::map<std::string, T>& values) {
  to.put(values.size());
  for (const auto& [key, value] : values) {
    put(to, key);
    put(to, value);
  }
}
void put(Packer& to, const ResultCheckpoint& checkpoint) {
  to.put(checkpoint.index).put(checkpoint.path).put(checkpoint.has_files).put(checkpoint.iteration).put(checkpoint.step);
  put(to, checkpoint.metrics);
  to.put(checkpoint.metadata);
}

void take(Unpacker& from, std::int64_t& number) { number = from.number(); }
void take(Unpacker& from, double& number) { number = std::bit_cast<double>(from.number()); }
void take(Unpacker& from, std::string& text) { text = from.text(); }
template <class T>
void take(Unpacker& from, std::vector<T>& values) {
  values.resize(static_cast<std::size_t>(from.number()));
  for (auto& value : values) take(from, value);
}
template <class... T>
void take(Unpacker& from, std::variant<T...>& value) {
  const auto index = from.number();
  std::int64_t at = 0;
  ((at++ == index ? take(from, value.template emplace<T>()) : void()), ...);
}
template <class T>
void take(Unpacker& from, std::map<std::string, T>& values) {
  for (auto left = from.number(); left > 0; --left) {
    auto key = from.text();
    take(from, values[std::move(key)]);
  }
}
void take(Unpacker& from, ResultCheckpoint& checkpoint) {
  checkpoint.index = from.number();
  checkpoint.path = from.text();
  checkpoint.has_files = from.number() != 0;
  checkpoint.iteration = from.number();
  checkpoint.step = from.number();
  take(from, checkpoint.metrics);
  checkpoint.metadata = from.text();
}

}  // namespace

std::string packed(const Result& result) {
  Packer to;
  to.put(result.run_name).put(result.run_id).put(result.path).put(result.state).put(static_cast<int>(result.code));
  to.put(result.error).put(result.attempts);
  put(to, result.metrics);
  put(to, result.columns);
  put(to, result.checkpoint ? std::vector{*result.checkpoint} : std::vector<ResultCheckpoint>{});
  put(to, result.best_checkpoints);
  return to.bytes();
}

Result unpacked_result(std::string_view bytes) {
  Unpacker from(bytes);
  Result result;
  for (auto* text : {&result.run_name, &result.run_id, &result.path, &result.state}) *text = from.text();
  result.code = static_cast<ExitCode>(from.number());
  result.error = from.text();
  result.attempts = static_cast<int>(from.number());
  take(from, result.metrics);
  take(from, result.columns);
  std::vector<ResultCheckpoint> newest;
  take(from, newest);
  if (!newest.empty()) result.checkpoint = std::move(newest.front());
  take(from, result.best_checkpoints);
  return result;
}

Result broadcast_result(const std::string& run_dir, ExitCode code, Communicator& communicator) {
  std::string bytes;
  const auto read = [&] {
    auto result = Result::from_path(run_dir);
    result.code = code;
    bytes = packed(result);
  };
  comm::collectively_on_first(communicator, read, with_advice);
  return unpacked_result(communicator.broadcast_text(std::move(bytes), 0));
}

}  // namespace trainrt::trainer
