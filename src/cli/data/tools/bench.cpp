// Measures how fast this machine reads a dataset.
#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "batch/signals.hpp"
#include "cli/data/bench/measured_rates.hpp"
#include "cli/data/data_tool.hpp"
#include "cli/data/inspect/reading_facts.hpp"
#include "cli/terminal/print.hpp"
#include "cli/terminal/progress_line.hpp"
#include "cli/terminal/table.hpp"
#include "core/text/printable.hpp"
#include "data/bytes/read_method.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

constexpr std::string_view bench_usage = "data bench SOURCE... [OPTION...]";

constexpr Example bench_examples[] = {{"trainrt data bench train.h5", "for about 10 seconds"},
                                      {"trainrt data bench --config train.ini train", "[data.train] of a config"}};

constexpr CommandOption bench_options[] = {
    {"seconds", "S", "duration of all measurements together; default: 10"},
    {"batch", "N", "samples per batch; default: 64"},
    threads_option_help,
    config_source_option,
    key_option,
    {"seed", "N", "seed of the shuffled order; default: run.seed of the config, or 1"},
    {"json", "", "print one JSON object"}};

using Measures = std::vector<std::function<Rate(double seconds)>>;

bool is_available(const data::ReadMethod& method) try {
  method.require();
  return true;
} catch (const Error&) {
  return false;
}

void add_storage(const OpenedData& opened, int threads, Measures& measures) {
  if (bytes_of_files(opened.listing) == 0) return;
  constexpr std::uint64_t min_piece = 4096, max_piece = 1 << 20;
  const auto piece = std::clamp(about_sample_bytes(opened), min_piece, max_piece);
  for (const bool at_random : {false, true})
    for (const auto* method : data::read_method_table())
      if (is_available(*method))
        measures.push_back([&opened, method, at_random, piece, threads](double seconds) {
          return measure_storage(opened, *method, at_random, piece, threads, seconds);
        });
}

std::vector<Rate> measure_all(const OpenedData& opened, std::size_t batch_size, int threads, double seconds) {
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
  const double all = std::accumulate(rate.stage_s.begin(), rate.stage_s.end(), 0.0);
  return all == 0 ? "" : fmt::format("{:.0f} %", 100 * rate.stage_s[static_cast<std::size_t>(stage)] / all);
}

std::string rates_text(const std::vector<Rate>& rates) {
  Table table({{"measurement"},
               {"threads", true},
               {"samples/s", true},
               {"MB/s", true},
               {"storage", true},
               {"decode", true},
               {"transform", true},
               {"batch", true}});
  for (const auto& rate : rates)
    table.add({rate.what, fmt::format("{}", rate.threads),
               rate.samples == 0 ? "" : fmt::format("{:.0f}", rate.samples_per_second()),
               fmt::format("{:.1f}", rate.bytes_per_second() / 1e6), share_text(rate, data::Stage::storage),
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
                {"samples_per_s", rate.samples_per_second()},
                {"bytes_per_s", rate.bytes_per_second()}};
    for (std::size_t i = 0; i < data::stage_count; ++i)
      one["stages_s"][std::string(data::name_of(static_cast<data::Stage>(i)))] = rate.stage_s[i];
    all.push_back(std::move(one));
  }
  const Json json = {{"samples", opened.size()}, {"rates", std::move(all)}, {"advice", advice}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

ExitCode bench_data(std::span<const std::string> words) {
  const auto choice = choose_source(words, {.options = bench_options, .usage = bench_usage});
  const auto& arguments = choice.arguments;
  constexpr double default_seconds = 10;
  constexpr std::int64_t default_batch = 64;
  const auto seconds = arguments.has("seconds") ? parse_real(arguments.options.at("seconds")) : default_seconds;
  if (!seconds || !(*seconds > 0))
    throw UsageError(fmt::format("invalid --seconds '{}': expected a number greater than 0",
                                 excerpt(arguments.options.at("seconds"), 60)));
  const auto batch_size = static_cast<std::size_t>(number_option(arguments, "batch", default_batch));
  const auto threads = threads_option(arguments);
  const auto opened = open_data(choice);
  batch::install_stop_signals();
  const auto rates = measure_all(opened, batch_size, threads, *seconds);
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
const DataTool bench{
    .name = "bench",
    .group = CommandGroup::data,
    .order = 3,
    .usage = bench_usage,
    .help = "measure how fast this machine reads a dataset, with advice",
    .examples = bench_examples,
    .options = bench_options,
    .notes =
        "Measures three speeds: bytes, in order and at random, by each read method; samples in order; and batches, in "
        "order and shuffled, "
        "with 1 and N threads. Shows which stage takes the time.\n",
    .run = bench_data};

}  // namespace trainrt::cli::datasets::plugins
