#pragma once
#include <string_view>

namespace trainrt::view::page {

/// The files of src/view/page, which are compiled into the program. The content security policy in page.html has the
/// digests of the style sheet and the script. It forbids every other style, every other script and all network
/// requests.
struct Assets {
  std::string_view page;                         ///< page.html, in which {{names}} are replaced
  std::string_view style;                        ///< content of the <style> element: page.css and charts/chart.css
  std::string_view script;                       ///< content of the <script> element
  std::string_view style_digest, script_digest;  ///< in the form "'sha256-...'"
};

const Assets& assets();

}  // namespace trainrt::view::page
