#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "view/top/live_run.hpp"

namespace trainrt::view {

/// What a picture of characters is made for.
struct Canvas {
  std::size_t columns = 80;
  std::size_t rows = 24;
  bool in_color = false;
  bool is_utf8 = true;  ///< else ASCII alone
};

enum class Paint { plain, bold, faint, good, busy, warning, bad };

/// A line of a picture: texts in colours. Texts are data: what they hold moves no cursor.
class PaintedLine {
 public:
  PaintedLine() = default;
  explicit PaintedLine(std::string_view text, Paint paint = Paint::plain) { add(text, paint); }
  PaintedLine& add(std::string_view text, Paint paint = Paint::plain);
  std::size_t columns() const { return columns_; }
  /// As the terminal gets it, cut to the columns of the canvas.
  std::string text(const Canvas& canvas) const;

 private:
  struct Part {
    std::string text;
    Paint paint;
  };
  std::vector<Part> parts_;
  std::size_t columns_ = 0;
};

/// `trainrt top`: a run in at most `canvas.rows` lines. Pure.
std::vector<std::string> picture_of(const RunNow& run, const Canvas& canvas);

/// The values in so many characters, low to high between the least and the largest; of more values than that, means of
/// neighbours. What is not finite leaves a blank. Pure.
std::string spark_line(std::span<const double> values, std::size_t columns, bool is_utf8);

// --- its parts, each in at most so many rows ---

std::vector<PaintedLine> head_of(const RunNow& run, const Canvas& canvas);
std::vector<PaintedLine> metrics_of(const RunNow& run, const Canvas& canvas, std::size_t rows);
/// A line a rank if they fit; else a character a rank, in the order of the ranks, by node if those fit; else a character a
/// node, or several. The late ones are named.
std::vector<PaintedLine> ranks_of(const RunNow& run, const Canvas& canvas, std::size_t rows);
std::vector<PaintedLine> events_of(const RunNow& run, std::size_t rows);

/// "1.5 GiB"
std::string bytes_text(double bytes);

}  // namespace trainrt::view
