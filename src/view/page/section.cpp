#include "view/page/section.hpp"

namespace trainrt::view::page {

Markup heading(const std::string& title) { return element("h3", {}, title); }

Markup paragraph(const std::string& shown, const std::string& kind) {
  return element("p", kind.empty() ? Attributes{} : Attributes{{"class", kind}}, shown);
}

Markup state_mark(const std::string& state) {
  const bool is_known =
      state == "finished" || state == "running" || state == "stopped" || state == "failed" || state == "killed";
  return element("span", {{"class", is_known ? "state " + state : "state"}}, state);
}

}  // namespace trainrt::view::page
