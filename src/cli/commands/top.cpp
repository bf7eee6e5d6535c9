// trainrt top: shows a run live in the terminal, from its run directory.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/command_line/existing_path.hpp"
#include "cli/runs/job_runs.hpp"
#include "cli/terminal/full_screen.hpp"
#include "core/environment.hpp"
#include "core/host.hpp"
#include "core/options.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "view/summary/run_summary.hpp"
#include "view/top/live_run.hpp"
#include "view/top/terminal_view.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view top_usage = "top RUN_DIR | --job ID [STORAGE_PATH...] [--once] [--interval SECONDS]";

constexpr Example top_examples[] = {{"trainrt top runs/first", "q or Ctrl-C quits"},
                                    {"trainrt top --job 12345", "the run of a Slurm job"}};

constexpr CommandOption top_options[] = {
    {"job", "ID",
     "show the run of a Slurm job. Its run directory is searched three levels deep in the given storage paths, or without "
     "a path in the job's working directory and the current directory"},
    {"once", "", "print the state once and exit; this is the default if the output is not a terminal"},
    {"interval", "SECONDS",
     "seconds between two updates, from 0.1 to 3600; default: 2. Ranks update their records every 10 s or less often"}};
constexpr view::Canvas without_terminal = {.columns = 100, .rows = 60};
constexpr double restart_wait_s = 30;  // maximum wait for the restart of a failed run

bool is_set(const char* name) {
  const auto* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

/// Returns whether the locale uses UTF-8, from the first variable that is set, as setlocale(3) does.
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

/// Throws UsageError if `folder` is not a run directory, but contains run directories. The message names the run that
/// changed last.
void refuse_folder_of_runs(const std::string& folder) {
  if (std::filesystem::exists(folder + "/run.json")) return;
  const auto runs = view::run_dirs_in(folder);
  if (runs.empty()) return;
  const auto changed = [](const std::string& run) {
    std::error_code error;
    return std::filesystem::last_write_time(run, error);
  };
  throw UsageError(
      fmt::format("'{}' is a folder of {}: name one of them, for example: trainrt top {}. `trainrt result {}` lists "
                  "them",
                  folder, counted(static_cast<std::int64_t>(runs.size()), "run"),
                  shell_quoted(*std::ranges::max_element(runs, {}, changed)), shell_quoted(folder)));
}

std::string run_dir_of(const Arguments& arguments) {
  if (!arguments.has("job")) {
    if (arguments.operands.size() != 1)
      throw UsageError(fmt::format("{}; usage: trainrt {}",
                                   arguments.operands.empty()
                                       ? "missing argument: RUN_DIR, or --job ID"
                                       : fmt::format("unexpected argument '{}'", excerpt(arguments.operands[1], 60)),
                                   top_usage));
    require_existing(arguments.operands[0]);
    refuse_folder_of_runs(arguments.operands[0]);
    return std::filesystem::absolute(arguments.operands[0]).lexically_normal().string();
  }
  const auto& job = arguments.options.at("job");
  const auto run_dirs = find_runs_of_job(job, arguments.operands);
  if (run_dirs.size() > 1)
    log::info(fmt::format("job {} has {} runs; showing the newest. To show another: trainrt top {}", job, run_dirs.size(),
                          shell_quoted(run_dirs[1])));
  return run_dirs[0];
}

double interval_of(const Arguments& arguments) {
  constexpr Range valid{.least = 0.1, .most = 3600};
  if (!arguments.has("interval")) return 2;
  const auto& text = arguments.options.at("interval");
  const auto seconds = parse_real(text);
  if (!seconds || !valid.holds(*seconds))
    throw UsageError(fmt::format("invalid --interval '{}': expected seconds from 0.1 to 3600", text));
  return *seconds;
}

void print(const view::LiveStatus& run, const view::Canvas& canvas) {
  for (const auto& line : view::terminal_view(run, canvas)) fmt::print("{}\n", line);
}

/// Decides when `trainrt top` ends: at once if the run has finished; 30 s after a failure if no restart was announced.
/// It does not end while the run is stopped, because a stopped run will be continued.
class End {
 public:
  bool is_reached(const view::LiveStatus& run) {
    const bool is_over = run.is_over() && run.restarting() == nullptr;
    if (!is_over) since_s_ = never;
    if (!is_over || run.state == rundir::RunState::stopped) return false;
    const double now_s = monotonic_seconds();
    since_s_ = std::min(since_s_, now_s);
    return run.state == rundir::RunState::finished || now_s - since_s_ > restart_wait_s;
  }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();
  double since_s_ = never;
};

/// Reads the state of a run and formats it for the screen. If the run directory cannot be read, the screen keeps the
/// last state and shows the error in its last row.
class Watch {
 public:
  Watch(view::LiveRun& live, view::LiveStatus first) : live_(live), run_(std::move(first)) {}

  void update() try {
    run_ = live_.read();
    error_.clear();
  } catch (const Error& error) {
    error_ = error.what();
  }
  const view::LiveStatus& run() const { return run_; }
  std::vector<std::string> lines(view::Canvas canvas) const {
    --canvas.rows;
    auto lines = view::terminal_view(run_, canvas);
    lines.resize(canvas.rows);
    lines.push_back((error_.empty() ? view::PaintedLine("q quits   " + run_.now + "   " + run_.run_dir, view::Paint::faint)
                                    : view::PaintedLine(error_, view::Paint::bad))
                        .text(canvas));
    return lines;
  }

 private:
  view::LiveRun& live_;
  view::LiveStatus run_;
  std::string error_;
};

/// Shows the run until it ends or the user quits. Returns the last state.
view::LiveStatus watch(view::LiveRun& live, view::LiveStatus first, double interval_s) {
  FullScreen screen;
  Watch watch(live, std::move(first));
  End end;
  for (auto input = FullScreen::Input::none; input != FullScreen::Input::quit;) {
    const auto size = FullScreen::size();
    if (!size || !screen.show(watch.lines(canvas_of(size))) || end.is_reached(watch.run())) break;
    input = screen.wait(interval_s);
    if (input != FullScreen::Input::resized) watch.update();
  }
  return watch.run();
}

ExitCode top_command(std::span<const std::string> words) {
  const auto arguments = parse_arguments(words, {.options = top_options, .max_operands = 1000, .usage = top_usage});
  const auto interval_s = interval_of(arguments);
  view::LiveRun live(run_dir_of(arguments));
  auto run = live.read();
  const auto terminal = FullScreen::size();
  if (terminal && !arguments.has("once") && (!run.is_over() || run.restarting() != nullptr))
    run = watch(live, std::move(run), interval_s);
  auto canvas = canvas_of(terminal);
  if (terminal) --canvas.rows;  // the last row is left for the prompt
  print(run, canvas);
  return ExitCode::finished;
}

}  // namespace

extern const Command top;
const Command top{.name = "top",
                  .group = CommandGroup::view,
                  .order = 2,
                  .usage = top_usage,
                  .help = "show a run live: progress, time left, metrics, ranks, events",
                  .examples = top_examples,
                  .options = top_options,
                  .notes =
                      "Reads only the run directory, so that it works on any node that can read this directory. If the run "
                      "hangs, shows the rank that the other ranks wait for. Between two attempts, shows when and why the "
                      "next attempt starts. The state of a run that has ended is printed once.\nWithout colors if NO_COLOR "
                      "is set; ASCII only if the locale (LC_ALL, LC_CTYPE, LANG) does not use UTF-8.\n",
                  .run = top_command};

}  // namespace trainrt::cli::plugins
