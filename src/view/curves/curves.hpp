#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "view/summary/run_summary.hpp"

namespace trainrt::view {

struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

/// A metric of a run.
struct Curve {
  std::string run;
  std::vector<Point> points;    ///< finite ones, with x that do not fall; thinned: of many, lowest and highest are kept
  std::vector<Point> smoothed;  ///< thinned too; empty if nothing is to be smoothed
  std::vector<Point> restarts;  ///< the first report of each attempt but the first
  std::optional<Point> best;    ///< the run's best report, if its reports are scored
  std::size_t not_finite = 0;   ///< values left out: NaN, infinities
};

/// The same metric of all runs that have it.
struct Panel {
  std::string metric;
  std::vector<Curve> curves;
};

struct PlotChoice {
  std::vector<std::string> metrics;  ///< empty: all numbers, but the runtime's own and what only counts (epoch, step)
  std::string x = "iteration";       ///< iteration, time, step, or a metric
  double smoothing = 0;              ///< weight of what was before, 0 to below 1
  std::size_t most_points = 2000;    ///< of a curve
};

/// A panel a metric. UsageError that says what there is if a metric or the x-axis is in no run.
std::vector<Panel> panels_of(std::span<const RunSummary> runs, const PlotChoice& choice);

/// The x of each report: iteration, time, step, or a metric. Those without one are NaN. Pure.
std::vector<double> places_of(const RunSummary& run, const std::string& x);

/// The numbers of the reports, but the runtime's own and what only counts, in the order in which they appear. Pure.
std::vector<std::string> own_metrics(std::span<const RunSummary> runs);

/// At most `most` points of them, with the lowest and the highest of each stretch, in their order. Pure.
std::vector<Point> thinned(std::span<const Point> points, std::size_t most);

/// The exponential moving average without its bias at the start, as in Adam (Kingma and Ba, 2015, section 3). Pure.
std::vector<Point> smoothed(std::span<const Point> points, double weight);

}  // namespace trainrt::view
