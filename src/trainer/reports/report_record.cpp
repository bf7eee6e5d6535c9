#include "trainer/reports/report_record.hpp"

#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include <trainrt/error.hpp>

#include "checkpoint/collective.hpp"
#include "comm/agreement.hpp"
#include "core/mistake.hpp"
#include "metrics/aggregate.hpp"

namespace trainrt::trainer {

namespace {

std::string packed(const metrics::Record& record) {
  checkpoint::Packer packer;
  for (const auto& [key, value] : record.values) {
    packer.put(key).put(value.index());
    if (const auto* number = std::get_if<double>(&value)) packer.put(std::bit_cast<std::int64_t>(*number));
    if (const auto* integer = std::get_if<std::int64_t>(&value)) packer.put(*integer);
    if (const auto* text = std::get_if<std::string>(&value)) packer.put(*text);
  }
  return packer.bytes();
}

metrics::Record unpacked(std::string_view bytes, std::int64_t iteration) {
  metrics::Record record{iteration, {}};
  for (checkpoint::Unpacker unpacker(bytes); !unpacker.done();) {
    auto key = unpacker.text();
    const auto kind = unpacker.number();
    if (kind == 0)
      record.values.emplace_back(std::move(key), std::bit_cast<double>(unpacker.number()));
    else if (kind == 1)
      record.values.emplace_back(std::move(key), unpacker.number());
    else
      record.values.emplace_back(std::move(key), unpacker.text());
  }
  return record;
}

}  // namespace

metrics::Record aggregate_report(const Metrics& metrics, std::int64_t iteration, Communicator& communicator) {
  auto encoded = metrics::encode(metrics);
  const auto hash = static_cast<std::int64_t>(encoded.schema_hash >> 1);
  if (!comm::agree_min_max(communicator, hash).alike()) {
    comm::AgreedError error("report(): " +
                            metrics::first_difference(communicator.all_gather(metrics::describe_keys(metrics))));
    error.mistake = {std::string(mistake_kind::metrics_differ), error.what()};
    throw error;
  }
  communicator.all_reduce(encoded.sums, Op::sum);
  communicator.all_reduce(encoded.maxima, Op::max);
  return metrics::decode(metrics, encoded, iteration);
}

metrics::Record first_rank_report(const Metrics& metrics, std::int64_t iteration, Communicator& communicator) {
  std::string mine;
  comm::collectively_on_first(communicator, [&] { mine = packed(metrics::unreduced_record(metrics, iteration)); });
  return unpacked(communicator.broadcast_text(std::move(mine), 0), iteration);
}

std::vector<metrics::Record> reports_of_ranks(const Metrics& metrics, std::int64_t iteration, Communicator& communicator) {
  std::string mine;
  try {
    mine = packed(metrics::unreduced_record(metrics, iteration));
  } catch (const Error&) {
    // A rank with invalid metrics sends an empty record. aggregate_report() throws if metrics that it combines are invalid.
  }
  std::vector<metrics::Record> records;
  for (const auto& bytes : communicator.all_gather(mine)) records.push_back(unpacked(bytes, iteration));
  return records;
}

}  // namespace trainrt::trainer
