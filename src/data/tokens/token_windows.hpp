#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::data {

/// How documents are cut into samples.
struct WindowForm {
  std::uint64_t stride = 1;  ///< tokens from the first one of a window to that of the next
  std::uint64_t tokens = 1;  ///< of a window
  std::uint64_t fewest = 0;  ///< a window that its document does not fill is one if it has so many; 0: never

  /// Windows of a document of so many tokens.
  std::uint64_t windows_in(std::uint64_t document) const;
};

/// The tokens of a window.
struct Window {
  std::uint64_t first = 0;
  std::uint64_t tokens = 0;  ///< that are there; the form's number, or fewer
};

/// All windows of a file, numbered through its documents. Documents without windows take no memory.
class TokenWindows {
 public:
  explicit TokenWindows(WindowForm form) : form_(form) {}
  /// The next document of the file.
  void add_document(std::uint64_t tokens);
  const WindowForm& form() const { return form_; }
  std::uint64_t size() const { return size_; }
  Window at(std::uint64_t number) const;
  /// How many windows from this one on, `most` at most, overlap or touch each its next one: they can be read in one piece.
  std::uint64_t run_from(std::uint64_t number, std::uint64_t most) const;

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

/// Lengths of documents as bytes, of which small ones take one or two (LEB128), and back.
void append_length(std::string& lengths, std::uint64_t length);
std::uint64_t take_length(std::string_view& lengths);

}  // namespace trainrt::data
