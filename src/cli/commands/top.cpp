// A run, live in the terminal, by its run directory alone.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/runs/job_runs.hpp"
#include "cli/terminal/full_screen.hpp"
#include "core/environment.hpp"
#include "core/host.hpp"
#include "core/options.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "view/top/live_run.hpp"
#include "view/top/picture.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view top_usage = "top RUN_DIR | --job ID [STORAGE_PATH...] [--once] [--interval SECONDS]";
constexpr view::Canvas without_terminal = {.columns = 100, .rows = 60};
constexpr double until_given_up_s = 30;  // a run that has failed may be started again

bool is_set(const char* name) {
  const auto* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

/// By the variables of the locale that decide, as setlocale(3) has them.
bool shows_utf8() {
  for (const auto* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (is_set(name)) {
      const std::string value = std::getenv(name);
      return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos ||
             value.find("utf-8") != std::string::npos;
    }
  return false;
}

view::Canvas canvas_of(std::optional<TerminalSize> terminal) {
  auto canvas = without_terminal;
  if (terminal) {
    canvas.columns = terminal->columns;
    canvas.rows = terminal->rows;
  }
  canvas.in_color = terminal && !is_set("NO_COLOR");
  canvas.is_utf8 = shows_utf8();
  return canvas;
}

std::string run_dir_of(const Arguments& arguments) {
  if (!arguments.has("job")) {
    if (arguments.operands.size() != 1)
      throw UsageError(fmt::format("top shows one run: give a run directory, or --job ID. Usage: trainrt {}", top_usage));
    return std::filesystem::absolute(arguments.operands[0]).lexically_normal().string();
  }
  const auto& job = arguments.options.at("job");
  const auto run_dirs = find_runs_of_job(job, arguments.operands);
  if (run_dirs.size() > 1)
    log::info(fmt::format("job {} has {} runs, and the newest is shown; another: trainrt top {}", job, run_dirs.size(),
                          shell_quoted(run_dirs[1])));
  return run_dirs[0];
}

double interval_of(const Arguments& arguments) {
  constexpr Range valid{.least = 0.1, .most = 3600};
  if (!arguments.has("interval")) return 2;
  const auto& text = arguments.options.at("interval");
  const auto seconds = parse_real(text);
  if (!seconds || !valid.holds(*seconds))
    throw UsageError(fmt::format("--interval is '{}'; it must be a number of seconds from 0.1 to 3600", text));
  return *seconds;
}

void print(const view::RunNow& run, const view::Canvas& canvas) {
  for (const auto& line : view::picture_of(run, canvas)) fmt::print("{}\n", line);
}

/// A run that was to be watched and ends: one that has finished is done, one that stopped will go on, and one that failed
/// may be started again at once.
class End {
 public:
  bool is_reached(const view::RunNow& run) {
    if (!run.is_over()) since_s_ = never;
    if (!run.is_over() || run.state == rundir::RunState::stopped) return false;
    const double now_s = monotonic_seconds();
    since_s_ = std::min(since_s_, now_s);
    return run.state == rundir::RunState::finished || now_s - since_s_ > until_given_up_s;
  }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();
  double since_s_ = never;
};

/// Storage that is away for a while is waited for; what was seen last stays on the screen, with the reason.
class Watch {
 public:
  Watch(view::LiveRun& live, view::RunNow first) : live_(live), run_(std::move(first)) {}

  void look() try {
    run_ = live_.look();
    trouble_.clear();
  } catch (const Error& error) {
    trouble_ = error.what();
  }
  const view::RunNow& run() const { return run_; }
  std::vector<std::string> lines(view::Canvas canvas) const {
    --canvas.rows;
    auto lines = view::picture_of(run_, canvas);
    lines.resize(canvas.rows);
    lines.push_back((trouble_.empty()
                         ? view::PaintedLine("q quits   " + run_.now + "   " + run_.run_dir, view::Paint::faint)
                         : view::PaintedLine(trouble_, view::Paint::bad))
                        .text(canvas));
    return lines;
  }

 private:
  view::LiveRun& live_;
  view::RunNow run_;
  std::string trouble_;
};

/// Until the run ends or somebody quits; returns what was seen last.
view::RunNow watch(view::LiveRun& live, view::RunNow first, double interval_s) {
  FullScreen screen;
  Watch watch(live, std::move(first));
  End end;
  for (auto input = FullScreen::Input::none; input != FullScreen::Input::quit;) {
    const auto size = FullScreen::size();
    if (!size || !screen.show(watch.lines(canvas_of(size))) || end.is_reached(watch.run())) break;
    input = screen.wait(interval_s);
    if (input != FullScreen::Input::resized) watch.look();
  }
  return watch.run();
}

ExitCode top_command(std::span<const std::string> words) {
  const auto arguments = parse_arguments(words, {.with_value = {"job", "interval"},
                                                 .switches = {"once"},
                                                 .min_operands = 0,
                                                 .max_operands = 1000,
                                                 .usage = std::string(top_usage)});
  const auto interval_s = interval_of(arguments);
  view::LiveRun live(run_dir_of(arguments));
  auto run = live.look();
  const auto terminal = FullScreen::size();
  if (terminal && !arguments.has("once") && !run.is_over()) run = watch(live, std::move(run), interval_s);
  auto canvas = canvas_of(terminal);
  if (terminal) --canvas.rows;  // the prompt's
  print(run, canvas);
  return ExitCode::finished;
}

}  // namespace

extern const Command top;
const Command top{
    .name = "top",
    .usage = top_usage,
    .help = "a run live in the terminal: progress, time left, metrics, every rank and who is late, what happened last",
    .details =
        "It reads the run directory alone, from any node that sees it, and asks no process of the run: of a run that\n"
        "hangs it shows which rank the others wait for. --job finds the run of a Slurm job by its number: in the folders\n"
        "that follow, or without any in the job's working directory and the current one, three folders deep. --once "
        "prints\n"
        "one picture and ends, as without a terminal. --interval: seconds between two looks, 2 unless given; what a\n"
        "rank does is as old as its last record, ten seconds or more. q and Ctrl-C quit. A run that is over is printed "
        "once.\n"
        "No colours if NO_COLOR is set; ASCII alone if the locale (LC_ALL, LC_CTYPE, LANG) is not UTF-8.\n",
    .run = top_command};

}  // namespace trainrt::cli::plugins
