// trainrt plot: draws the curves of runs as a picture file or in the terminal.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/files/atomic_file.hpp"
#include "cli/runs/read_runs.hpp"
#include "cli/terminal/print.hpp"
#include "core/options.hpp"
#include "core/output/log.hpp"
#include "core/output/terminal.hpp"
#include "core/text/text.hpp"
#include "view/charts/svg_conversion.hpp"
#include "view/charts/text_chart.hpp"
#include "view/curves/metric_charts.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view plot_usage = "plot RUN_DIR|FOLDER... [-o FILE.svg|FILE.png|FILE.pdf] [OPTION...]";

constexpr Example plot_examples[] = {
    {"trainrt plot runs/first", "in the terminal"},
    {"trainrt plot runs -o loss.svg --metrics loss", "all runs of a folder, as a picture"}};

constexpr CommandOption plot_options_table[] = {
    {"output", "FILE",
     "write a picture: .svg, .png or .pdf; default: draw in the terminal. PNG and PDF need librsvg (package librsvg2-2)"},
    {"metrics", "KEY,...",
     "metrics to show; default: all numbers in the reports, except the runtime's own and epoch, step and iteration"},
    {"x", "AXIS",
     "x axis: iteration (default), time (seconds of training), step (needs metrics.detailed = true, or a step in the "
     "reports), or any number in the reports"},
    {"log", "AXES", "logarithmic axes: x, y or xy; default: linear"},
    {"smooth", "WEIGHT",
     "smooth the curves by a moving average; WEIGHT is the weight of the previous average, such as 0.9; "
     "pictures also show the original values as faint lines; default: no smoothing"},
    {"size", "WIDTHxHEIGHT", "size in pixels; in the terminal, columns and rows of each chart"},
    {"force", "", "replace an existing file"}};

enum class Output { terminal, svg, png, pdf };

struct PlotOptions {
  Output output = Output::terminal;
  std::size_t width = 0, height = 0;  ///< 0: default
  bool log_x = false, log_y = false;
};

view::MetricChartOptions chart_options(const Arguments& arguments) {
  constexpr auto no_limit = std::numeric_limits<std::size_t>::max();
  view::MetricChartOptions options{.max_charts = 12, .max_runs = no_limit, .max_total_points = no_limit};
  if (arguments.has("metrics")) options.metrics = words_in(arguments.options.at("metrics"));
  if (arguments.has("x")) options.x_axes = {arguments.options.at("x")};
  if (!arguments.has("smooth")) return options;
  const auto& text = arguments.options.at("smooth");
  const auto weight = parse_real(text);
  if (!weight || *weight < 0 || *weight >= 1)
    throw UsageError(fmt::format("invalid --smooth '{}': expected a weight from 0 to below 1, such as 0.9", text));
  options.smoothing = *weight;
  return options;
}

Output output_kind(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension().string();
  for (const auto& [known, output] :
       {std::pair(".svg", Output::svg), std::pair(".png", Output::png), std::pair(".pdf", Output::pdf)})
    if (extension == known) return output;
  throw UsageError(fmt::format("invalid output file '{}': the name must end in .svg, .png or .pdf", path));
}

void set_size(const std::string& text, PlotOptions& options) {
  constexpr std::int64_t min = 10, max = 20000;
  const auto cross = text.find('x');
  const auto width = parse_integer(text.substr(0, cross));
  const auto height = parse_integer(cross == std::string::npos ? "" : text.substr(cross + 1));
  if (!width || !height || *width < min || *height < min || *width > max || *height > max)
    throw UsageError(
        fmt::format("invalid --size '{}': expected pixels, or columns and rows of the terminal, such as "
                    "1200x800; each from {} to {}",
                    text, min, max));
  options.width = static_cast<std::size_t>(*width);
  options.height = static_cast<std::size_t>(*height);
}

PlotOptions plot_options(const Arguments& arguments) {
  PlotOptions options;
  if (arguments.has("log")) {
    const auto& axes = arguments.options.at("log");
    if (axes != "x" && axes != "y" && axes != "xy")
      throw UsageError(fmt::format("invalid --log '{}': expected x, y or xy", axes));
    options.log_x = axes.find('x') != std::string::npos;
    options.log_y = axes.find('y') != std::string::npos;
  }
  if (arguments.has("output")) options.output = output_kind(arguments.options.at("output"));
  if (arguments.has("size")) set_size(arguments.options.at("size"), options);
  return options;
}

void print_charts(std::span<const view::Chart> charts, const PlotOptions& options) {
  view::TextChartOptions text{.log_x = options.log_x, .log_y = options.log_y};
  const auto terminal = terminal_of_output();
  if (terminal) text.columns = terminal->columns;
  text.in_color = terminal && std::getenv("NO_COLOR") == nullptr;
  if (options.width > 0) {
    text.columns = options.width;
    text.rows = options.height;
  }
  for (const auto& chart : charts) fmt::print("{}\n", view::text_chart(chart, text));
}

std::string picture_file(std::span<const view::Chart> charts, const PlotOptions& options) {
  const auto document = view::svg_document(charts, options.width, options.height, options.log_x, options.log_y);
  if (options.output == Output::svg) return document.text;
  return view::convert_svg(document, options.output == Output::png ? view::ImageFormat::png : view::ImageFormat::pdf);
}

ExitCode plot_command(std::span<const std::string> words) {
  const auto arguments = parse_arguments(
      words, {.options = plot_options_table, .min_operands = 1, .max_operands = 10000, .usage = plot_usage});
  const auto metrics = chart_options(arguments);
  const auto options = plot_options(arguments);
  const auto runs = read_runs(arguments.operands);
  view::check_metrics_and_axes(runs, metrics);
  const auto [charts, omitted_metrics] = view::metric_charts(runs, metrics);
  if (omitted_metrics > 0)
    log::info(fmt::format("showing {} of {} metrics; choose others with --metrics", charts.size(),
                          charts.size() + omitted_metrics));
  if (options.output == Output::terminal) {
    print_charts(charts, options);
    return ExitCode::finished;
  }
  const auto& path = arguments.options.at("output");
  AtomicFile file(path, arguments.has("force"));
  file.write(0, picture_file(charts, options));
  file.commit();
  print_safely("{}: {} of {}\n", path, counted(static_cast<std::int64_t>(charts.size()), "metric"),
               counted(static_cast<std::int64_t>(runs.size()), "run"));
  return ExitCode::finished;
}

}  // namespace

extern const Command plot;
const Command plot{
    .name = "plot",
    .group = CommandGroup::view,
    .order = 3,
    .usage = plot_usage,
    .help = "draw the curves of runs in the terminal or as a picture file",
    .examples = plot_examples,
    .options = plot_options_table,
    .notes =
        "An argument is a run directory, or a folder of runs: a storage path or a sweep.\n"
        "A triangle (^ in the terminal) marks a restart, a star (*) the best report by checkpoint.score_attribute.\n",
    .run = plot_command};

}  // namespace trainrt::cli::plugins
