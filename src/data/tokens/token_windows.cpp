#include "data/tokens/token_windows.hpp"

#include <algorithm>

namespace trainrt::data {

std::uint64_t WindowForm::windows_in(std::uint64_t document) const {
  const auto full = document < tokens ? 0 : (document - tokens) / stride + 1;
  if (min_tokens == 0 || (full > 0 && (full - 1) * stride + tokens == document)) return full;
  // The remaining tokens after the last full window form one more window if there are at least min_tokens of them.
  const auto left = full > document / stride ? 0 : document - full * stride;
  return full + (left >= min_tokens ? 1 : 0);
}

void TokenWindows::add_document(std::uint64_t tokens) {
  const auto windows = form_.windows_in(tokens);
  if (windows > 0) documents_.push_back({tokens_, tokens, size_});
  tokens_ += tokens;
  size_ += windows;
}

const TokenWindows::Document& TokenWindows::document_of(std::uint64_t number) const {
  const auto next = std::ranges::upper_bound(documents_, number, {}, &Document::first_window);
  return *(next - 1);
}

Window TokenWindows::at(std::uint64_t number) const {
  const auto& document = document_of(number);
  const auto offset = (number - document.first_window) * form_.stride;
  return {document.first_token + offset, std::min(form_.tokens, document.tokens - offset)};
}

std::uint64_t TokenWindows::run_from(std::uint64_t number, std::uint64_t max_windows) const {
  if (form_.stride > form_.tokens) return 1;
  const auto& document = document_of(number);
  return std::min(max_windows, document.first_window + form_.windows_in(document.tokens) - number);
}

}  // namespace trainrt::data
