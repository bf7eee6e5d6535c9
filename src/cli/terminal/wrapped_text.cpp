#include "cli/terminal/wrapped_text.hpp"

#include <sstream>

namespace trainrt::cli {

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::istringstream words{std::string(text)};
  std::vector<std::string> lines;
  for (std::string word; words >> word;) {
    if (lines.empty() || lines.back().size() + 1 + word.size() > width)
      lines.push_back(word);
    else
      lines.back() += " " + word;
  }
  return lines;
}

std::string described_term(std::string_view term, std::string_view text, std::size_t indent, std::size_t width) {
  std::string out(term);
  bool is_first = out.size() < indent;
  if (!is_first) out += "\n";
  for (const auto& line : wrapped(text, width - indent)) {
    out += std::string(is_first ? indent - term.size() : indent, ' ') + line + "\n";
    is_first = false;
  }
  if (!out.ends_with('\n')) out += "\n";
  return out;
}

}  // namespace trainrt::cli
