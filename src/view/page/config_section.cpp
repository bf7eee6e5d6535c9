#include "view/page/config_section.hpp"

#include <map>

#include <fmt/format.h>

#include "core/version.hpp"
#include "view/page/table.hpp"

namespace trainrt::view::page {

namespace {

Markup changes_table(const RunSummary& run) {
  TableModel model{
      .caption = "changes between attempts", .columns = {{"attempt", true}, {"key"}, {"from"}, {"to"}}, .rows = {}};
  for (const auto& change : run.record.changes)
    model.rows.push_back(
        {count_cell(change.attempt), header_cell(change.key), text_cell(change.from), text_cell(change.to)});
  return table(model);
}

Markup values_table(const std::string& caption, const std::map<std::string, std::string>& values) {
  TableModel model{.caption = caption, .columns = {{"key"}, {"value"}}, .rows = {}};
  for (const auto& [key, value] : values) model.rows.push_back({header_cell(key), text_cell(value)});
  return table(model);
}

Markup folded(const std::string& title, const Markup& content) {
  auto all = element("summary", {}, title);
  all += content;
  return element("details", {}, all);
}

}  // namespace

Section config_section(const RunSummary& run) {
  Section section{.id = "config", .title = "Config and versions", .content = {}};
  if (!run.record.loop.empty()) {
    section.content += heading("[loop]");
    section.content += values_table("[loop]", run.record.loop);
  }
  if (!run.record.changes.empty()) {
    section.content += heading("Changes between attempts");
    section.content += changes_table(run);
  }
  if (!run.record.spec.empty())
    section.content +=
        folded(fmt::format("All other keys ({})", run.record.spec.size()), values_table("config", run.record.spec));
  section.content += paragraph(fmt::format("This page was created by trainrt {}.", version), "note");
  return section;
}

Section failure_section(const std::vector<FailureExcerpt>& excerpts) {
  Section section{.id = "failures", .title = "Output of failures", .content = {}};
  for (const auto& each : excerpts) {
    section.content += heading(each.file);
    section.content += element("pre", {{"tabindex", "0"}}, (each.is_cut ? "...\n" : "") + each.text);
  }
  return section;
}

}  // namespace trainrt::view::page
