// Tests of charts in the formats SVG, text, PNG and PDF.
#include "view/charts/svg_chart.hpp"

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "core/text/display_width.hpp"
#include "view/charts/svg_conversion.hpp"
#include "view/charts/text_chart.hpp"

using namespace trainrt;
using namespace trainrt::view;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

Series series_of(std::vector<double> y, std::size_t style = 0) {
  Series series{.name = "run " + std::to_string(style), .x = {{}}, .y = std::move(y), .style = style};
  for (std::size_t i = 0; i < series.y.size(); ++i) series.x[0].push_back(static_cast<double>(i));
  return series;
}

Chart chart_of(std::vector<Series> series) {
  return {.title = "loss", .x_titles = {"iteration"}, .series = std::move(series)};
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("a style is one of eight colors with one of four line styles") {
  const auto svg = svg_chart(chart_of({series_of({1, 2}, 3), series_of({2, 1}, 19)}), {}).str();
  CHECK_THAT(svg, Contains("class=\"line c3 d0\" data-series=\"0\"") && Contains("class=\"line c3 d2\" data-series=\"1\""));
}

TEST_CASE("a value that is not finite interrupts the line") {
  const auto svg = svg_chart(chart_of({series_of({1, 2, NAN, 3, 4})}), {}).str();
  const auto from = svg.find("d=\"", svg.find("data-series=\"0\"")), to = svg.find('"', from + 3);
  CHECK(std::count(svg.begin() + static_cast<std::ptrdiff_t>(from), svg.begin() + static_cast<std::ptrdiff_t>(to), 'M') ==
        2);
}

TEST_CASE("a chart without a value to draw shows a message instead") {
  CHECK_THAT(svg_chart(chart_of({series_of({NAN})}), {}).str(), Contains("no finite value"));
  CHECK_THAT(svg_chart(chart_of({series_of({-1, 0})}), {.log_y = true}).str(), Contains("no finite value above 0"));
  CHECK_THAT(text_chart(chart_of({series_of({NAN})}), {}), Contains("no finite value"));
  CHECK_THAT(svg_chart(chart_of({}), {}).str(), Contains("no finite value"));
}

TEST_CASE("restarts and the best report are marked") {
  auto series = series_of({3, 2, 4, 1});
  series.restarts = {2};
  series.best = 3;
  const auto svg = svg_chart(chart_of({series}), {}).str();
  CHECK_THAT(svg, Contains("<title>restart</title>") && Contains("<title>best report</title>"));
  const auto text = text_chart(chart_of({series}), {});
  CHECK((count_of(text, "^") == 1 && count_of(text, "*") == 1));
}

TEST_CASE("a series of one value is a dot that names it, and a longer series has no dot") {
  const auto dots = [](const Chart& chart) { return count_of(svg_chart(chart, {}).str(), "a3.5,3.5"); };
  auto chart = chart_of({series_of({1}, 0), series_of({2, 1}, 1)});
  CHECK(dots(chart) == 2);  // a circle consists of two arcs
  CHECK_THAT(svg_chart(chart, {}).str(), Contains("class=\"mark c0 d0\" data-series=\"0\" data-point=\"0\"") &&
                                             Contains("<title>run 0</title></path></g>"));
  chart.series[0].best = 0;  // a star is visible
  CHECK(dots(chart) == 0);
  CHECK(dots(chart_of({series_of({1, 2})})) == 0);
}

TEST_CASE("the legend names twelve series, counts the others, and cuts long names") {
  std::vector<Series> series;
  for (std::size_t i = 0; i < 15; ++i) series.push_back(series_of({1, 2}, i));
  series[0].name = std::string(200, 'n');
  series[1].not_finite = 4;
  const auto svg = svg_chart(chart_of(series), {}).str();
  CHECK_THAT(svg, Contains("run 1 (4 values not finite)") && Contains("run 11<") && Contains("and 3 more") &&
                      Contains("n…<title>nnn"));
  CHECK(count_of(svg, "run 12") == 1);  // the title of the line, not the legend
  CHECK_THAT(text_chart(chart_of(series), {}), Contains("and 3 more"));
  series[0].name = "run 0";
  CHECK_THAT(svg_chart(chart_of(series), {.width = 250, .height = 150}).str(), Contains("and 14 more"));
}

TEST_CASE("a stacked chart has areas, each on top of those before it") {
  auto chart = chart_of({series_of({1, 2}, 0), series_of({3, 4}, 1)});
  chart.is_stacked = true;
  CHECK(drawn_values(chart)[1] == std::vector<double>{4, 6});
  const auto svg = svg_chart(chart, {}).str();
  CHECK(svg.find("data-series=\"1\"") < svg.find("data-series=\"0\""));
  CHECK_THAT(svg, Contains("filled c0") && Contains("Z\""));
}

TEST_CASE("a document has all charts side by side, with the light colors") {
  const std::vector<Chart> charts(3, chart_of({series_of({1, 2})}));
  const auto document = svg_document(charts, 0, 0, false, false);
  CHECK((document.width == 1280 && document.height == 800));
  CHECK_THAT(document.text, StartsWith("<?xml") && Contains(".c0 { color: #0b72b5; }"));
  CHECK(document.text.find("var(") == std::string::npos);
  CHECK(count_of(document.text, "class=\"chart-svg\"") == 3);
  CHECK_THROWS_WITH(svg_document(charts, 300, 800, false, false), Contains("300 x 800") && Contains("at least 400 x 280"));
}

TEST_CASE("names are data in a picture, whatever they hold") {
  auto chart = chart_of({series_of({1, 2})});
  chart.title = chart.series[0].name = "</svg><script>alert(1)</script>\x1b";
  const auto svg = svg_chart(chart, {}).str();
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(svg.find('\x1b') == std::string::npos);
  CHECK(text_chart(chart, {}).find('\x1b') == std::string::npos);
}

TEST_CASE("a picture is converted to PNG and PDF, if librsvg is installed") {
  const auto document = svg_document(std::vector<Chart>{chart_of({series_of({1, 2})})}, 0, 0, false, false);
  try {
    const auto png = convert_svg(document, ImageFormat::png);
    CHECK_THAT(png, StartsWith("\x89PNG"));
    CHECK(png.substr(16, 8) == std::string("\0\0\x02\x80\0\0\x01\x90", 8));  // 640 x 400
    CHECK_THAT(convert_svg(document, ImageFormat::pdf), StartsWith("%PDF"));
    CHECK_THROWS_AS(convert_svg({.text = "<svg", .width = 10, .height = 10}, ImageFormat::png), Error);
  } catch (const UsageError& error) {
    CHECK_THAT(error.what(), Contains("librsvg2-2") && Contains(".svg"));
  }
}

TEST_CASE("a chart of characters fits into its columns and rows") {
  auto chart = chart_of({series_of({1, 0.5, 0.25}, 0), series_of({2e-9, 1, 3}, 1)});
  chart.title = std::string(300, 't');
  for (const auto& [columns, rows] : {std::pair<std::size_t, std::size_t>{80, 22}, {40, 12}, {200, 50}}) {
    const auto text = text_chart(chart, {.columns = columns, .rows = rows});
    CHECK(static_cast<std::size_t>(std::ranges::count(text, '\n')) <= rows);
    for (std::size_t from = 0, end = text.find('\n'); end != std::string::npos; from = end + 1, end = text.find('\n', from))
      CHECK(display_width(text.substr(from, end - from)) <= columns);
  }
}
