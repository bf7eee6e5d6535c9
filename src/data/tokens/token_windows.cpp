#include "data/tokens/token_windows.hpp"

#include <algorithm>

#include <trainrt/error.hpp>

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

void append_length(std::string& lengths, std::uint64_t length) {
  for (; length >= 0x80; length >>= 7) lengths += static_cast<char>(length | 0x80);
  lengths += static_cast<char>(length);
}

std::uint64_t take_length(std::string_view& lengths) {
  std::uint64_t length = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (lengths.empty()) break;
    const auto byte = static_cast<unsigned char>(lengths.front());
    lengths.remove_prefix(1);
    length |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return length;
  }
  throw Error("the index of a token file's documents is damaged");
}

}  // namespace trainrt::data
