#pragma once
#include <string_view>

namespace trainrt::view::page {

/// The files of src/view/page, compiled in. The content security policy in page.html allows this style and this script, by
/// their digests, and no other style, script or network request.
struct Assets {
  std::string_view page;                         ///< the frame of the page, with {{names}} to replace
  std::string_view style;                        ///< content of the <style> element: page.css and charts/chart.css
  std::string_view script;                       ///< content of the <script> element
  std::string_view style_digest, script_digest;  ///< "'sha256-...'"
};

const Assets& assets();

}  // namespace trainrt::view::page
