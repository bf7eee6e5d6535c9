#pragma once
#include <cstdint>
#include <vector>

namespace trainrt::data {

/// How to divide documents into windows of tokens. Each window is a sample.
struct WindowForm {
  std::uint64_t stride = 1;      ///< number of tokens from the start of a window to the start of the next one
  std::uint64_t tokens = 1;      ///< length of a complete window
  std::uint64_t min_tokens = 0;  ///< minimum length of an incomplete last window of a document; 0: no incomplete windows

  /// Returns the number of windows in a document of `document` tokens.
  std::uint64_t windows_in(std::uint64_t document) const;
};

/// A range of tokens of a file, which is one sample.
struct Window {
  std::uint64_t first = 0;
  std::uint64_t tokens = 0;  ///< number of tokens without padding
};

/// The windows of a file, numbered in the order of its documents. Documents without windows take no memory.
class TokenWindows {
 public:
  explicit TokenWindows(WindowForm form) : form_(form) {}
  /// Appends the next document of the file, which has `tokens` tokens.
  void add_document(std::uint64_t tokens);
  const WindowForm& form() const { return form_; }
  std::uint64_t size() const { return size_; }
  /// Returns the window `number`. Precondition: `number` < size().
  Window at(std::uint64_t number) const;
  /// Returns how many windows, from window `number` on, can be read as one range of the file: they are in one document,
  /// without gaps between them. Returns at most `max_windows`.
  std::uint64_t run_from(std::uint64_t number, std::uint64_t max_windows) const;

 private:
  struct Document {
    std::uint64_t first_token, tokens, first_window;
  };
  const Document& document_of(std::uint64_t number) const;

  WindowForm form_;
  std::vector<Document> documents_;
  std::uint64_t size_ = 0;
  std::uint64_t tokens_ = 0;
};

}  // namespace trainrt::data
