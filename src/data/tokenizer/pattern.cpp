#define PCRE2_CODE_UNIT_WIDTH 8
#include "data/tokenizer/pattern.hpp"

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
  compiled_->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                                  PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &place, nullptr);
  if (compiled_->code == nullptr)
    throw UsageError(
        fmt::format("the expression {} is wrong at its character {}: {}", expression, place + 1, pcre_message(error)));
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
