// How fast this storage and these threads give a dataset.
#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "batch/signals.hpp"
#include "cli/byte_progress.hpp"
#include "cli/datasets/data_tool.hpp"
#include "cli/datasets/measured_rates.hpp"
#include "cli/datasets/reading_facts.hpp"
#include "cli/print.hpp"
#include "cli/table.hpp"
#include "core/text/printable.hpp"
#include "data/bytes/file_reader.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

constexpr std::string_view bench_usage =
    "data bench SOURCE...|--config FILE NAME [--KEY=VALUE ...] [--seconds S] [--batch N] [--threads N] [--json]";

using Measures = std::vector<std::function<Rate(double seconds)>>;

bool can_be_had(const data::ReadWay& way) try {
  way.require();
  return true;
} catch (const Error&) {
  return false;
}

void add_storage(const OpenedData& opened, int threads, Measures& measures) {
  if (data::bytes_of_files(opened.listing) == 0) return;
  constexpr std::uint64_t least_piece = 4096, most_piece = 1 << 20;
  const auto piece = std::clamp(about_sample_bytes(opened), least_piece, most_piece);
  for (const bool at_random : {false, true})
    for (const auto* way : data::read_way_table())
      if (can_be_had(*way))
        measures.push_back([&opened, way, at_random, piece, threads](double seconds) {
          return measure_storage(opened, *way, at_random, piece, threads, seconds);
        });
}

std::vector<Rate> measured(const OpenedData& opened, std::size_t batch_size, int threads, double seconds) {
  std::vector<int> counts{1};
  if (threads > 1) counts.push_back(threads);
  Measures measures;
  add_storage(opened, threads, measures);
  for (const int count : counts)
    measures.push_back([&opened, count](double share) { return measure_samples(opened, count, share); });
  for (const bool shuffled : {false, true})
    for (const int count : counts)
      measures.push_back([&opened, batch_size, shuffled, count](double share) {
        return measure_batches(opened, batch_size, shuffled, count, share);
      });
  std::vector<Rate> rates;
  for (const auto& measure : measures)
    if (batch::stop_signal() == 0) rates.push_back(measure(seconds / static_cast<double>(measures.size())));
  return rates;
}

std::string share_text(const Rate& rate, data::Stage stage) {
  double all = 0;
  for (const auto seconds : rate.stage_s) all += seconds;
  return all == 0 ? "" : fmt::format("{:.0f} %", 100 * rate.stage_s[static_cast<std::size_t>(stage)] / all);
}

std::string rates_text(const std::vector<Rate>& rates) {
  Table table({{"what"},
               {"threads", true},
               {"samples/s", true},
               {"MB/s", true},
               {"storage", true},
               {"decode", true},
               {"transform", true},
               {"gather", true}});
  for (const auto& rate : rates)
    table.add({rate.what, fmt::format("{}", rate.threads),
               rate.samples == 0 ? "" : fmt::format("{:.0f}", rate.samples_a_second()),
               fmt::format("{:.1f}", rate.bytes_a_second() / 1e6), share_text(rate, data::Stage::storage),
               share_text(rate, data::Stage::decode), share_text(rate, data::Stage::transform),
               share_text(rate, data::Stage::batch)});
  return table.text();
}

std::string rates_json(const OpenedData& opened, const std::vector<Rate>& rates, const std::vector<std::string>& advice) {
  using Json = nlohmann::ordered_json;
  Json all = Json::array();
  for (const auto& rate : rates) {
    Json one = {{"what", rate.what},
                {"threads", rate.threads},
                {"seconds", rate.seconds},
                {"samples", rate.samples},
                {"bytes", rate.bytes},
                {"samples_per_s", rate.samples_a_second()},
                {"bytes_per_s", rate.bytes_a_second()}};
    for (std::size_t i = 0; i < data::stage_count; ++i)
      one["stages_s"][std::string(data::name_of(static_cast<data::Stage>(i)))] = rate.stage_s[i];
    all.push_back(std::move(one));
  }
  const Json json = {{"samples", opened.size()}, {"rates", std::move(all)}, {"advice", advice}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

ExitCode bench_data(std::span<const std::string> words) {
  const auto choice = choose_source(
      words, {.with_value = {"seconds", "batch", "threads"}, .switches = {"json"}, .usage = std::string(bench_usage)});
  const auto& arguments = choice.arguments;
  constexpr double usual_seconds = 10;
  constexpr std::int64_t usual_batch = 64, most_threads = 256;
  const auto given = arguments.has("seconds") ? parse_real(arguments.options.at("seconds")) : usual_seconds;
  if (!given || !(*given > 0)) throw UsageError("--seconds: a number greater than 0 is expected");
  const auto batch_size = static_cast<std::size_t>(number_option(arguments, "batch", usual_batch));
  const auto threads = static_cast<int>(std::min(number_option(arguments, "threads", default_threads()), most_threads));
  const auto opened = open_data(choice);
  batch::install_stop_signals();
  const auto rates = measured(opened, batch_size, threads, *given);
  auto advice = advice_for(reading_facts(opened, 1));
  for (auto& sentence : advice_for(rates)) advice.push_back(std::move(sentence));
  if (arguments.has("json")) {
    print_text(printable_json(rates_json(opened, rates, advice)));
    return ExitCode::finished;
  }
  print_safely("{}\n\n{}", data::described(opened.listing), rates_text(rates));
  for (const auto& sentence : advice) print_safely("  advice: {}\n", sentence);
  return ExitCode::finished;
}

}  // namespace

extern const DataTool bench;
const DataTool bench{.name = "bench",
                     .usage = bench_usage,
                     .help = "how fast this storage and these threads give it: bytes, samples, batches; what to change",
                     .run = bench_data};

}  // namespace trainrt::cli::datasets::plugins
