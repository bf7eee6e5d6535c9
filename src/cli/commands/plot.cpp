// Curves of runs, as a picture file or as characters.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
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
#include "view/curves/curves.hpp"
#include "view/curves/gnuplot.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view plot_usage =
    "plot RUN_DIR|FOLDER... [-o FILE.svg|FILE.png|FILE.pdf] [--metrics KEY,...] [--x iteration|time|step|KEY] [--log "
    "x|y|xy] "
    "[--smooth WEIGHT] [--size WIDTHxHEIGHT] [--force]";
constexpr std::size_t most_panels = 12;

view::PlotChoice choice_of(const Arguments& arguments) {
  view::PlotChoice choice;
  if (arguments.has("metrics")) choice.metrics = words_in(arguments.options.at("metrics"));
  if (arguments.has("x")) choice.x = arguments.options.at("x");
  if (!arguments.has("smooth")) return choice;
  const auto& text = arguments.options.at("smooth");
  const auto weight = parse_real(text);
  if (!weight || *weight < 0 || *weight >= 1)
    throw UsageError(
        fmt::format("--smooth is '{}'; it must be the weight of what was before, from 0 to below 1, such as 0.9", text));
  choice.smoothing = *weight;
  return choice;
}

view::PictureKind kind_of(const std::string& path) {
  const auto ending = std::filesystem::path(path).extension().string();
  for (const auto& [known, kind] : {std::pair(".svg", view::PictureKind::svg), std::pair(".png", view::PictureKind::png),
                                    std::pair(".pdf", view::PictureKind::pdf)})
    if (ending == known) return kind;
  throw UsageError(fmt::format("'{}' must end in .svg, .png or .pdf: that says what kind of picture it is to be", path));
}

/// "1200x800" into the look.
void take_size(const std::string& text, view::Look& look) {
  constexpr std::int64_t least = 10, most = 20000;
  const auto cross = text.find('x');
  const auto width = parse_integer(text.substr(0, cross));
  const auto height = parse_integer(cross == std::string::npos ? "" : text.substr(cross + 1));
  if (!width || !height || *width < least || *height < least || *width > most || *height > most)
    throw UsageError(
        fmt::format("--size is '{}'; it must be like 1200x800: pixels, or columns and rows of characters, {} to {}", text,
                    least, most));
  look.width = static_cast<std::size_t>(*width);
  look.height = static_cast<std::size_t>(*height);
}

std::string label_of(const std::string& x) {
  return x == "time" ? "seconds of training, without the time between attempts" : x;
}

view::Look look_of(const Arguments& arguments, const std::string& x) {
  view::Look look;
  look.x_label = label_of(x);
  if (arguments.has("log")) {
    const auto& axes = arguments.options.at("log");
    if (axes != "x" && axes != "y" && axes != "xy")
      throw UsageError(fmt::format("--log is '{}'; it must be x, y or xy", axes));
    look.log_x = axes.find('x') != std::string::npos;
    look.log_y = axes.find('y') != std::string::npos;
  }
  if (arguments.has("output")) {
    look.kind = kind_of(arguments.options.at("output"));
  } else {
    look.kind = view::PictureKind::characters;
    const auto terminal = terminal_of_output();
    if (terminal) look.width = terminal->columns;
    look.in_color = terminal && std::getenv("NO_COLOR") == nullptr;
  }
  if (arguments.has("size")) take_size(arguments.options.at("size"), look);
  return look;
}

/// Only so many panels, unless they were named.
std::vector<view::Panel> shown_panels(std::vector<view::Panel> panels, const view::PlotChoice& choice) {
  if (!choice.metrics.empty() || panels.size() <= most_panels) return panels;
  log::info(fmt::format("shown are {} of {} metrics; --metrics names others", most_panels, panels.size()));
  panels.erase(panels.begin() + most_panels, panels.end());
  return panels;
}

ExitCode plot_command(std::span<const std::string> words) {
  std::vector<std::string> long_words(words.begin(), words.end());
  std::replace(long_words.begin(), long_words.end(), std::string("-o"), std::string("--output"));
  const auto arguments = parse_arguments(long_words, {.with_value = {"output", "metrics", "x", "log", "smooth", "size"},
                                                      .switches = {"force"},
                                                      .min_operands = 1,
                                                      .max_operands = 10000,
                                                      .usage = std::string(plot_usage)});
  const auto choice = choice_of(arguments);
  const auto look = look_of(arguments, choice.x);
  const auto runs = read_runs(arguments.operands);
  const auto panels = shown_panels(view::panels_of(runs, choice), choice);
  if (!arguments.has("output")) {
    auto picture = view::run_gnuplot(view::gnuplot_script(panels, look));
    std::erase(picture, '\f');  // between panels
    fmt::print("{}", picture);
    return ExitCode::finished;
  }
  const auto& path = arguments.options.at("output");
  AtomicFile file(path, arguments.has("force"));
  file.write(0, view::run_gnuplot(view::gnuplot_script(panels, look)));
  file.commit();
  print_safely("{}: {} of {}\n", path, counted(static_cast<std::int64_t>(panels.size()), "metric"),
               counted(static_cast<std::int64_t>(runs.size()), "run"));
  return ExitCode::finished;
}

}  // namespace

extern const Command plot;
const Command plot{
    .name = "plot",
    .usage = plot_usage,
    .help = "curves of runs as a picture, or as characters in the terminal",
    .details =
        "Each word is a run directory, or a folder of such: a storage path, a sweep. Without -o the curves are drawn in\n"
        "the terminal. All numbers of the reports are shown, but those of the runtime itself and epoch, step and "
        "iteration;\n"
        "--metrics names others. --x time: seconds of training; --x step needs metrics.detailed = true, or a report's own\n"
        "step; any other number of the reports will do too. --smooth 0.9: a moving average, and the values faint behind "
        "it.\n"
        "Triangles (^) mark restarts, a star the best report by checkpoint.score_attribute. --force replaces a file that "
        "is\n"
        "there. Pictures are drawn by gnuplot, which must be on the PATH.\n",
    .run = plot_command};

}  // namespace trainrt::cli::plugins
