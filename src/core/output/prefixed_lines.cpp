#include "core/output/prefixed_lines.hpp"

#include <algorithm>
#include <utility>

namespace trainrt {

void PrefixedLines::add(std::string_view bytes, double now_s) {
  while (!bytes.empty()) {
    const char first = bytes.front();
    if (first == '\n') put();
    if (first == '\r') rewritten_ = true;
    if (first == '\n' || first == '\r') {
      bytes.remove_prefix(1);
      continue;
    }
    if (rewritten_) end_state(now_s);
    if (line_.size() == max_bytes) put();
    const auto length = std::min({bytes.find_first_of("\r\n"), max_bytes - line_.size(), bytes.size()});
    line_ += bytes.substr(0, length);
    bytes.remove_prefix(length);
  }
}

void PrefixedLines::finish() {
  if (!line_.empty()) put();
}

/// Handles a line of a progress bar, which the next bytes overwrite. Passes its current text to `write`, but at most one
/// text per between_states_s seconds. Then clears the line.
void PrefixedLines::end_state(double now_s) {
  rewritten_ = false;
  const auto state = std::exchange(line_, {});
  if (state.empty() || now_s - shown_at_s_ < between_states_s) return;
  shown_at_s_ = now_s;
  write_(prefix_ + state + "\n");
}

void PrefixedLines::put() {
  write_(prefix_ + line_ + "\n");
  line_.clear();
  rewritten_ = false;
}

}  // namespace trainrt
