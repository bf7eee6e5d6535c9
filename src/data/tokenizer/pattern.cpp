#define PCRE2_CODE_UNIT_WIDTH 8
#include "data/tokenizer/pattern.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <pcre2.h>
#include <trainrt/error.hpp>

namespace trainrt::data::tokenizer {

namespace {

/// Of the steps of one match: an expression that needs more is made to hang its reader.
constexpr std::uint32_t most_steps = 10'000'000;
constexpr std::uint32_t most_depth = 100'000;

std::string pcre_message(int code) {
  PCRE2_UCHAR text[256] = {};
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

/// What Hugging Face's tokenizers split by, Oniguruma, adds to words, and its white space.
constexpr std::string_view numbers_of_latin_1 = R"(\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})";
constexpr std::string_view of_white = R"(\p{Z}\t-\r\x{85})";

/// Spells out \w and \s, and \W and \S.
class WordClasses {
 public:
  explicit WordClasses(const std::string& expression) : left_(expression) {}

  std::string spelt_out() {
    while (!left_.empty()) {
      if (left_.front() == '\\' && left_.size() > 1)
        take_escape();
      else if (left_.front() == '[')
        in_class_ ? take_posix_class() : take_begin_of_class();
      else
        take_plain();
    }
    return std::move(out_);
  }

 private:
  void take(std::size_t count) {
    out_ += left_.substr(0, count);
    left_.remove_prefix(std::min(count, left_.size()));
  }
  void take_plain() {
    if (left_.front() == ']') in_class_ = false;
    take(1);
  }
  void take_begin_of_class() {
    in_class_ = true;
    take(left_.starts_with("[^") ? 2 : 1);
    if (left_.starts_with(']')) take(1);  // there it is the sign
  }
  void take_posix_class() {
    const auto end = left_.starts_with("[:") ? left_.find(":]") : std::string_view::npos;
    take(end == std::string_view::npos ? 1 : end + 2);
  }
  void take_escape() {
    const char what = left_[1];
    if (!in_class_ && (what == 'b' || what == 'B')) refuse();
    if (in_class_ && what == 'W') refuse();
    const bool is_other = what == 'W' || what == 'S';
    if ((what != 'w' && what != 's' && !is_other) || (in_class_ && is_other)) return take(2);
    const bool is_word = what == 'w' || what == 'W';
    const auto members = is_word ? fmt::format("{}{}", of_words, numbers_of_latin_1) : std::string(of_white);
    out_ += in_class_ ? members : fmt::format("[{}{}]", is_other ? "^" : "", members);
    left_.remove_prefix(2);
  }
  [[noreturn]] void refuse() const {
    throw UsageError(fmt::format("an expression has {} {}, which is not known here", left_.substr(0, 2),
                                 in_class_ ? "within brackets" : "(the border of a word)"));
  }

  std::string_view left_;
  std::string out_;
  bool in_class_ = false;
};

struct MatchData {
  explicit MatchData(const pcre2_code* code) : data(pcre2_match_data_create_from_pattern(code, nullptr)) {
    if (data == nullptr) throw std::bad_alloc();
  }
  ~MatchData() { pcre2_match_data_free(data); }
  MatchData(const MatchData&) = delete;
  pcre2_match_data* data;
};

}  // namespace

struct Pattern::Compiled {
  pcre2_code* code = nullptr;
  pcre2_match_context* context = nullptr;
  ~Compiled() {
    pcre2_code_free(code);
    pcre2_match_context_free(context);
  }
};

Pattern::Pattern(const std::string& expression) : compiled_(std::make_unique<Compiled>()) {
  int error = 0;
  PCRE2_SIZE place = 0;
  const auto spelt_out = WordClasses(expression).spelt_out();
  compiled_->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(spelt_out.data()), spelt_out.size(),
                                  PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &place, nullptr);
  if (compiled_->code == nullptr)
    throw UsageError(
        fmt::format("the expression {} is wrong at its character {}: {}", spelt_out, place + 1, pcre_message(error)));
  pcre2_jit_compile(compiled_->code, PCRE2_JIT_COMPLETE);  // if the machine allows it: else matching is slower
  compiled_->context = pcre2_match_context_create(nullptr);
  if (compiled_->context == nullptr) throw std::bad_alloc();
  pcre2_set_match_limit(compiled_->context, most_steps);
  pcre2_set_depth_limit(compiled_->context, most_depth);
}

Pattern::~Pattern() = default;

void Pattern::cut(std::string_view text, const std::function<void(std::string_view, bool)>& take) const {
  const MatchData match(compiled_->code);
  std::size_t done = 0, from = 0;
  while (from < text.size()) {
    const int found = pcre2_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                                  PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, match.data, compiled_->context);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) throw Error(fmt::format("the tokenizer's expression cannot be matched: {}", pcre_message(found)));
    const auto* const ends = pcre2_get_ovector_pointer(match.data);
    if (ends[0] > done) take(text.substr(done, ends[0] - done), false);
    take(text.substr(ends[0], ends[1] - ends[0]), true);
    done = from = ends[1];
  }
  if (done < text.size()) take(text.substr(done), false);
}

}  // namespace trainrt::data::tokenizer
