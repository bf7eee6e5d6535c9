#include "view/summary/file_lines.hpp"

#include <cstddef>
#include <span>

#include "io/files/file.hpp"

namespace trainrt::view {

void for_each_line(const std::string& path, const std::function<void(std::string_view)>& take) {
  constexpr std::size_t block_bytes = std::size_t{1} << 20;
  io::FileReader file(path);
  std::string text;
  for (std::size_t kept = 0;; kept = text.size()) {
    text.resize(kept + block_bytes);
    const auto read = file.read(std::as_writable_bytes(std::span(text).subspan(kept)));
    text.resize(kept + read);
    std::size_t at = 0;
    for (auto end = text.find('\n', kept); end != std::string::npos; end = text.find('\n', at)) {
      take(std::string_view(text).substr(at, end - at));
      at = end + 1;
    }
    text.erase(0, at);
    if (read == 0) break;
  }
  if (!text.empty()) take(text);
}

}  // namespace trainrt::view
