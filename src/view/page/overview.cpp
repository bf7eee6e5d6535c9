#include "view/page/overview.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/text/text.hpp"
#include "view/page/number_texts.hpp"
#include "view/page/section.hpp"
#include "view/page/table.hpp"

namespace trainrt::view::page {

namespace {

/// Returns the number of finished epochs and of all epochs, for example "12 of 40"; "" if unknown.
std::string progress_of(const RunSummary& run) {
  const auto* last = run.last();
  const auto all = run.record.loop.find("epochs");
  const auto done = last != nullptr ? last->number("epoch") : std::nullopt;
  return done && all != run.record.loop.end() ? fmt::format("{} of {}", number_text(*done), all->second) : "";
}

std::string steps_done(const RunSummary& run) {
  std::int64_t steps = 0;
  for (const auto& attempt : run.attempts)
    if (attempt.shows_progress()) steps = std::max(steps, attempt.last_step);
  return steps > 0 ? std::to_string(steps) : "-";
}

Markup tiles_of(const RunSummary& run) {
  const auto all = rundir::sum_of(run.accounts);
  std::vector<std::pair<std::string, Markup>> tiles = {
      {"iterations", text(run.is_silent() ? "not reported" : std::to_string(run.reports.size()))},
      {"steps", text(steps_done(run))},
      {"goodput", text(goodput_text(all))},
      {"total time", text(clock_text(all.total_s()))},
      {"attempts", text(std::to_string(run.attempt_count))},
      {"ranks", text(run.attempts.empty() ? "-" : std::to_string(run.attempts.back().ranks))},
      {"checkpoints kept", text(std::to_string(run.checkpoints.size()))}};
  if (const auto progress = progress_of(run); !progress.empty()) tiles.insert(tiles.begin(), {"epochs", text(progress)});
  return element("div", {{"class", "tiles"}}, definitions(tiles));
}

}  // namespace

Markup overview_of(const RunSummary& run) {
  auto title = element("h1", {}, run.record.name);
  title += state_label(run.state);
  auto head = element("div", {{"class", "title"}}, title);
  head += paragraph(fmt::format("{} · created {} · run {} · {}", train_function_text(run.record), run.record.created,
                                run.record.run_id, run.run_dir),
                    "where");
  if (!run.contradiction.empty())
    head += paragraph(run.contradiction + ": the run cannot be continued until these files are restored", "warning");
  head += tiles_of(run);
  return head;
}

}  // namespace trainrt::view::page
