#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainrt::view {

/// HTML or SVG text. Only the functions below create Markup. They escape all texts, so names read from a run directory
/// cannot insert elements.
class Markup {
 public:
  Markup() = default;
  Markup& operator+=(const Markup& other) {
    text_ += other.text_;
    return *this;
  }
  bool empty() const { return text_.empty(); }
  const std::string& str() const { return text_; }

 private:
  explicit Markup(std::string text) : text_(std::move(text)) {}
  friend Markup text(std::string_view);
  friend Markup element(std::string_view, const std::vector<std::pair<std::string_view, std::string>>&, const Markup&);
  std::string text_;
};

using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// Returns `text` escaped for HTML. Control characters and invalid UTF-8 are shown as hexadecimal codes, for example
/// \x1b.
Markup text(std::string_view text);

/// Returns <name attributes>content</name>. The values of attributes are escaped; names must be literals.
Markup element(std::string_view name, const Attributes& attributes, const Markup& content = {});
Markup element(std::string_view name, const Attributes& attributes, std::string_view content);

/// Returns `text` with the characters that are special in HTML replaced.
std::string escaped(std::string_view text);

/// Returns `ascii_json` with each '<' escaped, for the content of a <script> element. `ascii_json` must be ASCII.
std::string script_json(std::string_view ascii_json);

}  // namespace trainrt::view
