#include "view/page/page.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/version.hpp"
#include "view/page/assets.hpp"
#include "view/page/checkpoint_section.hpp"
#include "view/page/config_section.hpp"
#include "view/page/heat_map.hpp"
#include "view/page/metric_section.hpp"
#include "view/page/overview.hpp"
#include "view/page/runs_section.hpp"
#include "view/page/step_section.hpp"
#include "view/page/sweep_section.hpp"
#include "view/page/time_section.hpp"

namespace trainrt::view::page {

namespace {

using Json = nlohmann::ordered_json;

/// Returns `frame` with each {{name}} replaced by the value of that name. The inserted values themselves are not
/// searched for names.
std::string filled(std::string_view frame, const std::map<std::string_view, std::string_view>& values) {
  std::string page;
  for (std::size_t at = 0; at < frame.size();) {
    const auto open = frame.find("{{", at);
    page += frame.substr(at, open - at);
    if (open == std::string_view::npos) break;
    const auto close = frame.find("}}", open);
    page += values.at(frame.substr(open + 2, close - open - 2));
    at = close + 2;
  }
  return page;
}

std::string assembled(const std::string& title, const Markup& head, const std::vector<Section>& sections, const Json& data,
                      const std::string& created) {
  Markup links, body;
  for (const auto& section : sections) {
    if (section.content.empty()) continue;
    links += element("a", {{"href", "#" + section.id}}, section.title);
    auto content = element("h2", {{"id", section.id + "-title"}}, section.title);
    content += section.content;
    body += element("section", {{"id", section.id}, {"aria-labelledby", section.id + "-title"}}, content);
  }
  const auto json = script_json(data.dump(-1, ' ', true, Json::error_handler_t::replace));
  return filled(assets().page, {{"title", text(title).str()},
                                {"script_digest", assets().script_digest},
                                {"style_digest", assets().style_digest},
                                {"style", assets().style},
                                {"head", head.str()},
                                {"links", links.str()},
                                {"body", body.str()},
                                {"foot", text(fmt::format("created by trainrt {} at {}", version, created)).str()},
                                {"data", json},
                                {"script", assets().script}});
}

}  // namespace

RunView view_of(RunSummary summary) {
  RunView run{.summary = std::move(summary), .steps = {}, .usage = {}, .failures = {}};
  run.steps = step_history_of(run.summary.run_dir);
  for (const auto& attempt : run.summary.attempts)
    if (auto ranks = rank_usages_of(run.summary.run_dir, attempt); !ranks.empty())
      run.usage.push_back({attempt.number, std::move(ranks)});
  run.failures = failure_excerpts(run.summary);
  return run;
}

std::string page_of(const RunView& run, const std::string& created) {
  PageCharts charts;
  const auto times = rank_times_of(run.steps.windows);
  const std::vector<Section> sections = {metric_section(run.summary, charts),
                                         time_section(run.summary),
                                         attempt_section(run.summary),
                                         failure_section(run.failures),
                                         checkpoint_section(run.summary),
                                         step_section(run.summary, run.steps, times, run.usage, charts),
                                         usage_section(run.usage),
                                         config_section(run.summary)};
  Json data = {{"charts", charts.as_json()}};
  if (!run.steps.windows.empty()) data["heat"] = heat_map_json(times);
  return assembled(run.summary.record.name, overview_of(run.summary), sections, data, created);
}

std::string page_of(const SweepSummary& sweep, std::span<const RunSummary> runs, const std::string& title,
                    const std::string& created) {
  PageCharts charts;
  Section curves{.id = "all-curves", .title = "Curves", .content = curves_of(runs, charts, true)};
  const std::vector<Section> sections = {best_trial_section(sweep), trials_section(sweep, runs), parallel_section(runs),
                                         std::move(curves), time_of_runs_section(runs)};
  auto head = element("div", {{"class", "title"}}, element("h1", {}, title));
  head += paragraph(description_of(sweep), "where");
  const Json data = {{"charts", charts.as_json()}, {"parallel", parallel_json(sweep, runs)}};
  return assembled(title, head, sections, data, created);
}

std::string page_of(std::span<const RunSummary> runs, const std::string& title, const std::string& created) {
  PageCharts charts;
  Section curves{.id = "all-curves", .title = "Curves", .content = curves_of(runs, charts)};
  const std::vector<Section> sections = {runs_section(runs), parallel_section(runs), std::move(curves),
                                         time_of_runs_section(runs)};
  auto head = element("div", {{"class", "title"}}, element("h1", {}, title));
  head += paragraph(fmt::format("{} runs", runs.size()), "where");
  const Json data = {{"charts", charts.as_json()}, {"parallel", parallel_json(runs)}};
  return assembled(title, head, sections, data, created);
}

}  // namespace trainrt::view::page
