#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainrt::view::page {

/// HTML or SVG in which everything that came from outside is escaped: it can only be made by the functions below.
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

/// A text that is shown as it is. Control characters and what is no UTF-8 are shown as \x1b.
Markup text(std::string_view text);

/// <name attributes>content</name>. Element and attribute names are the page's own, values are escaped.
Markup element(std::string_view name, const Attributes& attributes, const Markup& content = {});
Markup element(std::string_view name, const Attributes& attributes, std::string_view content);

/// A text with the characters that mean something in HTML replaced.
std::string escaped(std::string_view text);

/// A JSON text as the content of a <script> element: it holds no '<', and is ASCII.
std::string script_json(std::string_view ascii_json);

}  // namespace trainrt::view::page
