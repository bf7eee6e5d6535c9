#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "view/curves/curves.hpp"

namespace trainrt::view {

enum class PictureKind { svg, png, pdf, characters };

struct Look {
  PictureKind kind = PictureKind::svg;
  std::size_t width = 0, height = 0;  ///< of all: pixels, or columns and rows of characters; 0: as large as the panels need
  bool log_x = false, log_y = false;
  bool in_color = true;  ///< of characters
  std::string x_label;
};

/// The commands that make gnuplot print the picture to its standard output. Names in it are data to gnuplot, whatever they
/// hold. Pure.
std::string gnuplot_script(std::span<const Panel> panels, const Look& look);

/// What gnuplot prints. UsageError if there is no gnuplot; Error with what it said if it fails, or takes two minutes.
std::string run_gnuplot(const std::string& script);

}  // namespace trainrt::view
