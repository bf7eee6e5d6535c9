#include "view/curves/gnuplot.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/process/child_environment.hpp"
#include "core/process/piped_program.hpp"
#include "core/text/text.hpp"

namespace trainrt::view {

namespace {

constexpr double limit_s = 120;
constexpr std::size_t panel_width = 640, panel_height = 400, panel_rows = 22;
constexpr std::size_t most_named = 12;  // curves of a panel with a legend
constexpr int not_found = 127;

/// For people who do not see all colours (Wong, Points of view: Color blindness, Nature Methods 2011).
constexpr std::array<std::string_view, 7> colors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                    "#E69F00", "#56B4E9", "#000000"};

std::string_view color_of(std::size_t curve) { return colors[curve % colors.size()]; }

/// In single quotes gnuplot replaces nothing, and runs nothing.
std::string in_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char each : join(printable_lines(text), " "))
    quoted += each == '\'' ? std::string("''") : std::string(1, each);
  return quoted + "'";
}

void put_block(std::string& script, std::string_view name, std::span<const Point> points) {
  script += fmt::format("${} << EOD\n", name);
  for (const auto& point : points) script += fmt::format("{} {}\n", point.x, point.y);
  script += "EOD\n";
}

std::string terminal_line(const Look& look, std::size_t columns, std::size_t rows) {
  const auto width = look.width > 0 ? look.width : columns * panel_width;
  const auto height = look.height > 0 ? look.height : rows * panel_height;
  switch (look.kind) {
    case PictureKind::svg:
      return fmt::format("set terminal svg size {},{} noenhanced font 'sans-serif,12' background '#ffffff'\n", width,
                         height);
    case PictureKind::png:
      return fmt::format("set terminal pngcairo size {},{} noenhanced font 'sans,10'\n", width, height);
    case PictureKind::pdf:
      return fmt::format("set terminal pdfcairo size {}in,{}in noenhanced font 'sans,9'\n", static_cast<double>(width) / 96,
                         static_cast<double>(height) / 96);
    case PictureKind::characters:
      break;
  }
  return fmt::format("set terminal dumb size {},{} noenhanced {}\n", look.width > 0 ? look.width : 80,
                     look.height > 0 ? look.height : panel_rows, look.in_color ? "ansi256" : "mono");
}

/// The legend's, "" if there are too many to name, or one that the title names.
std::string title_of(const Panel& panel, const Curve& curve) {
  if (panel.curves.size() > most_named) return "notitle";
  const auto missing = curve.not_finite == 0
                           ? ""
                           : fmt::format(" ({} not finite)", counted(static_cast<std::int64_t>(curve.not_finite), "value"));
  return "title " + in_quotes(curve.run + missing);
}

/// One panel's blocks, and the parts of its `plot` command.
std::vector<std::string> put_curves(std::string& script, const Panel& panel, std::size_t number, bool of_characters) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < panel.curves.size(); ++i) {
    const auto& curve = panel.curves[i];
    if (curve.points.empty()) continue;
    const auto name = fmt::format("p{}c{}", number, i);
    const auto add = [&](std::string_view what, std::span<const Point> points, const std::string& style) {
      if (points.empty()) return;
      put_block(script, name + std::string(what), points);
      parts.push_back(fmt::format("${}{} using 1:2 {}", name, what, style));
    };
    const auto color = color_of(i);
    const auto title = title_of(panel, curve);
    const auto line = fmt::format("with lines lw 1.6 lc rgb '{}' {}", color, title);
    if (curve.smoothed.empty() || of_characters) {
      add("", curve.smoothed.empty() ? curve.points : curve.smoothed,
          curve.points.size() == 1 ? fmt::format("with points pt 7 lc rgb '{}' {}", color, title) : line);
    } else {
      add("", curve.points, fmt::format("with lines lw 0.7 lc rgb '#50{}' notitle", color.substr(1)));
      add("s", curve.smoothed, line);
    }
    add("r", curve.restarts, fmt::format("with points pt {} lc rgb '{}' notitle", of_characters ? "'^'" : "8", color));
    if (curve.best)
      add("b", std::span(&*curve.best, 1),
          fmt::format("with points pt {} ps 1.4 lc rgb '{}' notitle", of_characters ? "'*'" : "3", color));
  }
  return parts;
}

}  // namespace

std::string gnuplot_script(std::span<const Panel> panels, const Look& look) {
  const bool of_characters = look.kind == PictureKind::characters;
  const std::size_t columns = panels.size() > 1 ? 2 : 1;
  const auto rows = (panels.size() + columns - 1) / columns;
  std::string script = "set encoding utf8\n" + terminal_line(look, columns, rows);
  script += of_characters ? "set grid\n" : "set grid lt 1 lw 0.5 lc rgb '#dddddd'\nset bmargin 5\n";
  script += "set tics nomirror\nset border 3\nset key below\nset datafile missing 'NaN'\n";
  if (look.log_x) script += "set logscale x\n";
  if (look.log_y) script += "set logscale y\n";
  script += "set xlabel " + in_quotes(look.x_label) + "\n";
  std::vector<std::vector<std::string>> parts;
  for (std::size_t i = 0; i < panels.size(); ++i) parts.push_back(put_curves(script, panels[i], i, of_characters));
  if (!of_characters && panels.size() > 1) script += fmt::format("set multiplot layout {},{}\n", rows, columns);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    script += "set title " + in_quotes(panels[i].metric) + "\n";
    if (parts[i].empty()) {
      script += "set xrange [0:1]\nset yrange [0:1]\nplot NaN title 'no finite value'\nset autoscale\n";
    } else {
      script += fmt::format("plot {}\n", fmt::join(parts[i], ", "));
    }
  }
  if (!of_characters && panels.size() > 1) script += "unset multiplot\n";
  return script + "exit\n";
}

std::string run_gnuplot(const std::string& script) {
  PipedProgram gnuplot("exec gnuplot --default-settings", inherited_environment());
  gnuplot.send(script);
  gnuplot.end_input();
  PipedProgram::Received all;
  const double deadline = monotonic_seconds() + limit_s;
  while (monotonic_seconds() < deadline) {
    const auto code = gnuplot.exit_code();
    const auto heard = gnuplot.exchange(std::chrono::milliseconds(code ? 0 : 100), -1);
    all.output += heard.output;
    all.errors += heard.errors;
    if (!code || !heard.output.empty() || !heard.errors.empty()) continue;
    if (*code == not_found)
      throw UsageError(
          "pictures are drawn by gnuplot, and there is none on the PATH: load a centre's module for it, or install it "
          "(Debian: gnuplot-nox)");
    if (*code != 0 || all.output.empty()) throw Error(fmt::format("gnuplot failed (exit {}): {}", *code, trim(all.errors)));
    return all.output;
  }
  throw Error(fmt::format("gnuplot did not end within {:.0f} s", limit_s));
}

}  // namespace trainrt::view
