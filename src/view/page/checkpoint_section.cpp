#include "view/page/checkpoint_section.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "checkpoint/format/names.hpp"
#include "view/page/number_texts.hpp"
#include "view/page/table.hpp"
#include "view/summary/attempt_texts.hpp"

namespace trainrt::view::page {

namespace {

constexpr std::size_t max_rows = 200;

/// Returns the name of the metric by which checkpoints are ranked; "" if the run has no such metric.
std::string score_attribute(const RunSummary& run) {
  const auto found = run.record.spec.find("checkpoint.score_attribute");
  return found != run.record.spec.end() ? found->second : "";
}

Markup checkpoint_table(const RunSummary& run) {
  const auto score = score_attribute(run);
  TableModel model{.caption = "checkpoints",
                   .columns = {{"checkpoint"},
                               {"step", true},
                               {"iteration", true},
                               {"attempt", true},
                               {"ranks", true},
                               {"created"},
                               {"reason"}},
                   .rows = {},
                   .can_be_sorted = true};
  if (!score.empty()) model.columns.push_back({score, true});
  const auto* best = run.best();
  const auto from = run.checkpoints.size() - std::min(run.checkpoints.size(), max_rows);
  for (auto i = from; i < run.checkpoints.size(); ++i) {
    const auto& meta = run.checkpoints[i];
    const bool is_best = best != nullptr && meta.iteration == best->iteration && !meta.at_stop;
    std::vector<Cell> row = {header_cell(checkpoint::directory_name(meta.number)),
                             meta.step > 0 || meta.iteration <= 0 ? count_cell(meta.step) : text_cell("-"),
                             count_cell(meta.iteration),
                             meta.attempt > 0 ? count_cell(meta.attempt) : text_cell("-"),
                             count_cell(meta.ranks),
                             text_cell(meta.created),
                             text_cell(meta.at_stop ? "the run stopped"
                                       : is_best    ? "best report"
                                                    : "regular")};
    const auto value = meta.metrics.find(score);
    if (!score.empty()) row.push_back(value != meta.metrics.end() ? number_cell(value->second) : text_cell("-"));
    model.rows.push_back(std::move(row));
  }
  auto content = table(model);
  if (from > 0) content += paragraph(fmt::format("{} older checkpoints are not shown.", from), "note");
  return content;
}

Markup save_table(const RunSummary& run) {
  TableModel model{
      .caption = "time for saves",
      .columns = {{"attempt"}, {"training stopped for saves", true}, {"share of the training time", true}, {"saved up to"}},
      .rows = {}};
  for (const auto& attempt : run.attempts) {
    const double training_s = attempt.timing.steps_s + attempt.timing.checkpoint_s;
    if (attempt.timing.checkpoint_s <= 0) continue;
    model.rows.push_back(
        {header_cell(std::to_string(attempt.number)), duration_cell(attempt.timing.checkpoint_s),
         share_cell(training_s > 0 ? std::optional(attempt.timing.checkpoint_s / training_s) : std::nullopt),
         text_cell(saved_point_of(attempt))});
  }
  return model.rows.empty() ? Markup() : table(model);
}

}  // namespace

Section checkpoint_section(const RunSummary& run) {
  Section section{.id = "checkpoints", .title = "Checkpoints", .content = {}};
  if (!run.checkpoints.empty()) section.content += checkpoint_table(run);
  section.content += save_table(run);
  return section;
}

}  // namespace trainrt::view::page
