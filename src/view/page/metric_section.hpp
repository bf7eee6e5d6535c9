#pragma once
#include <span>

#include "view/page/section.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// A run's metrics in figures, and their curves.
Section metric_section(const RunSummary& run, Drawings& drawings);

/// The curves of all runs, a chart a metric, and what is chosen for all charts.
Markup curves_of(std::span<const RunSummary> runs, Drawings& drawings);

}  // namespace trainrt::view::page
