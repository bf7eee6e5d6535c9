#include "data/tokenizer/normalizer.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "data/tokenizer/unicode.hpp"

namespace trainrt::data::tokenizer {

namespace {

using Json = nlohmann::json;

class InForm final : public Normalizer {
 public:
  explicit InForm(Form form) : form_(form) {}
  std::string apply(std::string text) const override { return in_form(text, form_); }

 private:
  Form form_;
};

class LowerCase final : public Normalizer {
 public:
  std::string apply(std::string text) const override { return in_lower_case(text); }
};

class WithoutMarks final : public Normalizer {
 public:
  std::string apply(std::string text) const override { return without_marks(text); }
};

class Prepended final : public Normalizer {
 public:
  explicit Prepended(std::string before) : before_(std::move(before)) {}
  std::string apply(std::string text) const override { return text.empty() ? text : before_ + text; }

 private:
  std::string before_;
};

class Replaced final : public Normalizer {
 public:
  Replaced(std::string what, std::string by) : what_(std::move(what)), by_(std::move(by)) {}
  std::string apply(std::string text) const override {
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = text.find(what_); at != std::string::npos; at = text.find(what_, from)) {
      out.append(text, from, at - from).append(by_);
      from = at + what_.size();
    }
    return out.append(text, from);
  }

 private:
  std::string what_, by_;
};

class Stripped final : public Normalizer {
 public:
  Stripped(bool left, bool right) : left_(left), right_(right) {}
  std::string apply(std::string text) const override {
    std::size_t first = text.size(), last = 0;
    for (std::string_view left = text; !left.empty();) {
      const auto begin = text.size() - left.size();
      if (is_white(take_code_point(left))) continue;
      first = std::min(first, begin);
      last = text.size() - left.size();
    }
    const auto begin = left_ ? first : 0;
    const auto end = right_ ? std::max(last, begin) : text.size();
    return text.substr(begin, end - begin);
  }

 private:
  bool left_, right_;
};

class Bert final : public Normalizer {
 public:
  struct Does {
    bool clean = true, chinese = true, strip = true, lowercase = true;
  };
  explicit Bert(Does does) : does_(does) {}
  std::string apply(std::string text) const override {
    if (does_.clean) text = cleaned(text);
    if (does_.chinese) text = with_blanks(text);
    if (does_.strip) text = without_nonspacing_marks(in_form(text, Form::nfd));
    if (does_.lowercase) text = in_lower_case(text);
    return text;
  }

 private:
  static std::string cleaned(const std::string& text) {
    std::string out;
    for (std::string_view left = text; !left.empty();) {
      const auto code = take_code_point(left);
      if (code == 0 || code == 0xFFFD || is_control(code)) continue;
      append_code_point(out, is_white(code) ? U' ' : code);
    }
    return out;
  }
  static std::string with_blanks(const std::string& text) {
    std::string out;
    for (std::string_view left = text; !left.empty();) {
      const auto code = take_code_point(left);
      const bool alone = is_chinese(code);
      if (alone) out += ' ';
      append_code_point(out, code);
      if (alone) out += ' ';
    }
    return out;
  }

  Does does_;
};

class InTurn final : public Normalizer {
 public:
  explicit InTurn(const Json& list) {
    for (const auto& each : list) steps_.push_back(normalizer_of(each));
  }
  std::string apply(std::string text) const override {
    for (const auto& step : steps_)
      if (step) text = step->apply(std::move(text));
    return text;
  }

 private:
  std::vector<std::unique_ptr<const Normalizer>> steps_;
};

std::optional<Form> form_of(const std::string& type) {
  if (type == "NFC") return Form::nfc;
  if (type == "NFD") return Form::nfd;
  if (type == "NFKC") return Form::nfkc;
  if (type == "NFKD") return Form::nfkd;
  return std::nullopt;
}

std::unique_ptr<const Normalizer> bert_of(const Json& json) {
  const bool lowercase = json.value("lowercase", true);
  const auto strip = json.find("strip_accents");
  return std::make_unique<Bert>(
      Bert::Does{.clean = json.value("clean_text", true),
                 .chinese = json.value("handle_chinese_chars", true),
                 .strip = strip != json.end() && strip->is_boolean() ? strip->get<bool>() : lowercase,
                 .lowercase = lowercase});
}

std::unique_ptr<const Normalizer> replaced_of(const Json& json) {
  const auto& pattern = json.at("pattern");
  if (!pattern.contains("String") || pattern.at("String").get<std::string>().empty())
    throw UsageError("its normalizer Replace has a pattern that is no String, which is not known here");
  return std::make_unique<Replaced>(pattern.at("String").get<std::string>(), json.at("content").get<std::string>());
}

}  // namespace

std::unique_ptr<const Normalizer> normalizer_of(const Json& json) {
  if (json.is_null()) return nullptr;
  const auto type = json.at("type").get<std::string>();
  if (const auto form = form_of(type)) return std::make_unique<InForm>(*form);
  if (type == "Sequence") return std::make_unique<InTurn>(json.at("normalizers"));
  if (type == "Lowercase") return std::make_unique<LowerCase>();
  if (type == "StripAccents") return std::make_unique<WithoutMarks>();
  if (type == "Strip") return std::make_unique<Stripped>(json.value("strip_left", true), json.value("strip_right", true));
  if (type == "Prepend") return std::make_unique<Prepended>(json.at("prepend").get<std::string>());
  if (type == "Replace") return replaced_of(json);
  if (type == "BertNormalizer") return bert_of(json);
  throw UsageError(
      fmt::format("its normalizer '{}' is not known here; known: Sequence, NFC, NFD, NFKC, NFKD, Lowercase, "
                  "StripAccents, Strip, Prepend, Replace, BertNormalizer",
                  type));
}

std::unique_ptr<const Normalizer> bert_normalizer(bool lowercase) {
  return std::make_unique<Bert>(Bert::Does{.strip = lowercase, .lowercase = lowercase});
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) append_code_point(out, take_code_point(text));
  return out;
}

}  // namespace trainrt::data::tokenizer
