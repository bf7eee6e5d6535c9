#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "view/top/live_run.hpp"

namespace trainrt::view {

/// The size and abilities of the terminal.
struct Canvas {
  std::size_t columns = 80;
  std::size_t rows = 24;
  bool in_color = false;
  bool is_utf8 = true;  ///< whether the output may have UTF-8; if false, the output is ASCII
};

enum class Paint { plain, bold, faint, good, busy, warning, bad };

/// A line of colored texts. Control characters in the texts are replaced.
class PaintedLine {
 public:
  PaintedLine() = default;
  explicit PaintedLine(std::string_view text, Paint paint = Paint::plain) { add(text, paint); }
  PaintedLine& add(std::string_view text, Paint paint = Paint::plain);
  std::size_t columns() const { return columns_; }
  /// Returns the line with its color codes, truncated to `canvas.columns` columns.
  std::string text(const Canvas& canvas) const;

 private:
  struct Part {
    std::string text;
    Paint paint;
  };
  std::vector<Part> parts_;
  std::size_t columns_ = 0;
};

/// Returns the output of `trainrt top` in at most `canvas.rows` lines. Pure function.
std::vector<std::string> terminal_view(const LiveStatus& run, const Canvas& canvas);

/// Returns a line of at most `columns` characters, which draws the values as heights between their minimum and maximum.
/// If there are more values than columns, neighboring values are averaged. A value that is not finite becomes a blank.
/// Pure function.
std::string spark_line(std::span<const double> values, std::size_t columns, bool is_utf8);

// --- functions that return the sections of terminal_view(), each in at most `rows` lines ---

std::vector<PaintedLine> header_lines(const LiveStatus& run, const Canvas& canvas);
std::vector<PaintedLine> metric_lines(const LiveStatus& run, const Canvas& canvas, std::size_t rows);
/// Returns a line per rank if these lines fit into `rows`. Otherwise, returns a character per rank, grouped by node,
/// or, if there are still too many, a character per group of ranks. Lines that describe the late ranks and the slow
/// rank follow.
std::vector<PaintedLine> rank_lines(const LiveStatus& run, const Canvas& canvas, std::size_t rows);
std::vector<PaintedLine> event_lines(const LiveStatus& run, std::size_t rows);

}  // namespace trainrt::view
