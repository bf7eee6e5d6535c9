#pragma once
#include <string_view>

namespace trainrt::view::page {

/// The files of src/view/page that the page is made of, compiled in, with the charting library (dygraphs) if the build
/// found it. The content security policy lets these scripts through by their digests, and no others.
struct Assets {
  std::string_view page;    ///< the frame, with {{names}} to be filled in
  std::string_view style;   ///< all of the <style> element
  std::string_view script;  ///< all of the <script> element
  std::string_view charts;  ///< the library, as a <script> element of its own; "" if the build found none
  std::string_view script_digest, charts_digest;  ///< "'sha256-...'"
};

const Assets& assets();

}  // namespace trainrt::view::page
