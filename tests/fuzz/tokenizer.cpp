// Tokenizers of Hugging Face's form out of any bytes, and what they make of any text.
#include "data/tokenizer/tokenizer.hpp"

#include <nlohmann/json.hpp>

#include "core/text/json_depth.hpp"
#include "io/files/file.hpp"
#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

namespace {

/// The text behind the JSON, after a zero byte.
std::string_view text_of(std::string_view input) {
  const auto zero = input.find('\0');
  return zero == std::string_view::npos ? "The dog's 2 naïve\xff friends" : input.substr(zero + 1);
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const auto* name : {"byte_level", "llama3", "llama2", "metaspace", "bert", "words"}) {
    auto json =
        nlohmann::json::parse(io::read_file(std::string(TRAINRT_SOURCE_DIR "/tests/golden/tokenizers/") + name + ".json"));
    auto& merges = json["model"]["merges"];
    if (merges.is_array())
      merges.erase(merges.begin() + std::min<std::ptrdiff_t>(8, static_cast<std::ptrdiff_t>(merges.size())), merges.end());
    auto small = nlohmann::json::object();
    for (const auto& [token, number] : json["model"]["vocab"].items())
      if (token.size() < 3 || token.size() == 5) small[token] = number;
    json["model"]["vocab"] = small;
    all.push_back(json.dump() + std::string(1, '\0') + "the Dog \xE6\x9D\xB1 12");
  }
  return all;
}

std::vector<std::string> words() {
  return {"\"Sequence\"",  "\"ByteLevel\"",   "\"Split\"",          "\"Regex\"",
          "\"Metaspace\"", "\"normalizers\"", "\"BertNormalizer\"", "\"TemplateProcessing\"",
          "\"merges\"",    "\"lstrip\":true"};
}

void read(const std::string& input) {
  const auto json = input.substr(0, input.find('\0'));
  if (is_nested_deeper(json, max_json_depth)) return;
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (parsed.is_discarded()) return;
  try {
    const data::tokenizer::Tokenizer tokenizer(parsed);
    for (const bool with_special : {true, false}) {
      std::vector<std::int32_t> once, twice;
      tokenizer.encode(text_of(input), with_special, once);
      tokenizer.encode(text_of(input), with_special, twice);
      require(once == twice, "a text becomes the same tokens again");
    }
  } catch (const Error&) {
  } catch (const nlohmann::json::exception&) {
  }
}

}  // namespace trainrt::fuzz
