#include "view/page/section.hpp"

namespace trainrt::view::page {

Markup heading(const std::string& title) { return element("h3", {}, title); }

Markup paragraph(const std::string& shown, const std::string& kind) {
  return element("p", kind.empty() ? Attributes{} : Attributes{{"class", kind}}, shown);
}

Markup state_mark(rundir::RunState state) {
  const std::string word(rundir::word_of(state));
  return element("span", {{"class", "state " + word}}, word);
}

}  // namespace trainrt::view::page
