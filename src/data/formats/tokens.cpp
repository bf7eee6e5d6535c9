#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "core/process/memory.hpp"
#include "data/bytes/coding/packed.hpp"
#include "data/source/format.hpp"
#include "data/source/row_source.hpp"
#include "data/tokens/token_file.hpp"
#include "data/tokens/token_windows.hpp"

namespace trainrt::data::plugins {

namespace {

WindowForm window_form(const Options& options) {
  const bool has_next = options.boolean("next_token");
  const auto length = static_cast<std::uint64_t>(options.integer("length"));
  const auto stride = options.has("stride") ? static_cast<std::uint64_t>(options.integer("stride")) : length;
  const std::uint64_t min_tokens = !options.has("pad") ? 0 : has_next ? 2 : 1;
  return {stride, length + (has_next ? 1 : 0), min_tokens};
}

TokenFile token_file(const DataFile& file, const Options& options) {
  return TokenFile(file, options.text("dtype"), options.bytes("header"));
}

void require_id(const TokenFile& file, const Options& options, const std::string& key) {
  if (options.has(key) && !file.can_hold(options.integer(key)))
    throw UsageError(fmt::format("token file {}: {} = {} is invalid: the id does not fit into a token of {} bytes",
                                 file.path(), key, options.integer(key), file.type().bytes));
}

/// Returns the lengths of the documents in tokens, encoded by a PackedWriter. A document ends with the token that the key
/// `document_end` sets, or at the end of the file.
std::string lengths_of_documents(const TokenFile& file, const Options& options) {
  PackedWriter lengths;
  std::uint64_t begin = 0;
  const auto add_up_to = [&](std::uint64_t end) {
    lengths.number(end - begin);
    begin = end;
  };
  if (options.has("document_end"))
    file.find_all(options.integer("document_end"), [&](std::uint64_t at) { add_up_to(at + 1); });
  if (options.has("document_end") && begin == 0 && file.size() > 0)
    log::warning(fmt::format("token file {}: document_end = {} does not occur; the file is read as one document",
                             file.path(), options.integer("document_end")));
  if (begin < file.size()) add_up_to(file.size());
  return lengths.take();
}

TokenWindows windows_of(std::string_view lengths, const WindowForm& form) {
  TokenWindows windows(form);
  for (PackedReader reader(lengths); reader.left() > 0;) windows.add_document(reader.number());
  return windows;
}

/// Reads the windows of a file.
class WindowReader {
 public:
  /// `pad` is the token that fills the end of an incomplete window.
  WindowReader(TokenFile file, TokenWindows windows, std::int64_t pad)
      : file_(std::move(file)), windows_(std::move(windows)), pad_(pad), wide_(size_of(file_.type().widened())) {}

  std::uint64_t windows() const { return windows_.size(); }
  bool is_resident() const { return file_.is_resident(); }

  /// Writes the tokens of the windows with the indices `samples` to `out`, one window after another.
  void read_tokens(std::span<const std::uint64_t> samples, std::byte* out) const {
    const auto max_runs = file_.max_parallel_runs();
    std::vector<std::byte> scratch;
    std::vector<TokenFile::Run> runs;
    std::vector<std::uint64_t> windows;  // number of windows of each run
    for (std::size_t at = 0; at < samples.size();) {
      runs.clear();
      windows.clear();
      for (; at < samples.size() && runs.size() < max_runs; at += windows.back()) {
        const auto count = neighbours(samples.subspan(at));
        const auto first = windows_.at(samples[at]), last = count == 1 ? first : windows_.at(samples[at + count - 1]);
        runs.push_back({first.first, last.first + last.tokens - first.first, {}});
        windows.push_back(count);
      }
      file_.read(runs, scratch);
      for (std::size_t i = 0; i < runs.size(); ++i) {
        widen(runs[i], windows[i], out);
        out += windows[i] * windows_.form().tokens * wide_;
      }
    }
  }

  /// Writes the number of tokens, without padding, of each window in `samples` to `out`.
  void count_tokens(std::span<const std::uint64_t> samples, std::byte* out) const {
    for (const auto number : samples) {
      const auto count = static_cast<std::int32_t>(windows_.at(number).tokens);
      std::memcpy(out, &count, sizeof count);
      out += sizeof count;
    }
  }

 private:
  static constexpr std::uint64_t max_windows_in_run = 256;

  /// Returns how many of `samples`, from the first on, are consecutive windows of one document, so that they can be read as
  /// one range of tokens.
  std::uint64_t neighbours(std::span<const std::uint64_t> samples) const {
    std::uint64_t count = 1;
    while (count < max_windows_in_run && count < samples.size() && samples[count] == samples[0] + count) ++count;
    return count > 1 ? windows_.run_from(samples[0], count) : 1;
  }

  /// Writes the `windows` windows in `run`, a range of tokens, to `out`. Only the last window may need padding.
  void widen(const TokenFile::Run& run, std::uint64_t windows, std::byte* out) const {
    const auto bytes = file_.type().bytes;
    const auto& form = windows_.form();
    for (std::uint64_t i = 0; i < windows; ++i) {
      const auto begin = i * form.stride, tokens = std::min(form.tokens, run.count - begin);
      file_.widen(run.raw.subspan(begin * bytes, tokens * bytes), run.first + begin, out);
      pad(out + tokens * wide_, form.tokens - tokens);
      out += form.tokens * wide_;
    }
  }

  void pad(std::byte* out, std::uint64_t tokens) const {
    for (; tokens > 0; --tokens, out += wide_) std::memcpy(out, &pad_, wide_);  // little-endian: the low bytes come first
  }

  TokenFile file_;
  TokenWindows windows_;
  std::int64_t pad_;
  std::size_t wide_;  ///< size in bytes of a token of a sample
};

FileContent probe_tokens(const DataFile& path, const Options& options) {
  const auto file = token_file(path, options);
  const auto form = window_form(options);
  require_id(file, options, "document_end");
  require_id(file, options, "pad");
  FileContent content;
  content.index = lengths_of_documents(file, options);
  content.samples = windows_of(content.index, form).size();
  content.fields = {{"tokens", file.type().widened(), {static_cast<std::int64_t>(form.tokens)}}};
  if (form.min_tokens != 0) content.fields.push_back({"count", DType::i32, {}});
  if (content.samples == 0)
    log::warning(fmt::format("token file {}: no samples, because no document of its {} tokens fills a window of {}{}",
                             path.path, file.size(), form.tokens,
                             form.min_tokens == 0 ? "; set the key 'pad' to pad short windows" : ""));
  return content;
}

std::unique_ptr<Source> open_tokens(const DataFile& path, const FileContent& content, const Options& options, bool keep) {
  constexpr std::uint64_t bytes_of_document = 2 * 3 * sizeof(std::uint64_t);  // twice, for a vector that grows
  require_memory(content.index.size() * bytes_of_document, "token file " + path.path + ": the positions of its documents");
  auto file = token_file(path, options);
  if (keep) file.keep();
  const auto windows = std::make_shared<const WindowReader>(
      std::move(file), windows_of(content.index, window_form(options)), options.has("pad") ? options.integer("pad") : 0);
  auto source = std::make_unique<RowSource>(windows->windows());
  source->add(content.fields[0], RowReader{[windows](auto samples, auto* out) { windows->read_tokens(samples, out); },
                                           windows->is_resident()});
  if (content.fields.size() > 1)
    source->add(content.fields[1],
                RowReader{[windows](auto samples, auto* out) { windows->count_tokens(samples, out); }, true});
  return source;
}

constexpr Range any_id = {.least = 0, .most = 9007199254740992.0};
constexpr Range window_range = {.least = 1, .most = 1 << 30};

}  // namespace

extern const Format tokens{
    .name = "tokens",
    .help =
        "flat files of token ids, or .npy files with one axis: a sample is a window of tokens, field tokens. "
        "u16 and u32 become i32. Tokens that do not fill a window are left out, or padded with the key 'pad'",
    .options =
        {{.key = "length",
          .type = OptionType::integer,
          .help = "number of input tokens per sample; with next_token, a sample has one more token, the target",
          .required = true,
          .range = window_range},
         {.key = "next_token",
          .type = OptionType::boolean,
          .default_value = "true",
          .help = "whether a sample has an additional token, the target of the last input token"},
         {.key = "stride",
          .type = OptionType::integer,
          .help = "number of tokens from the start of a window to the start of the next window; by default length",
          .range = window_range},
         {.key = "dtype",
          .default_value = "",
          .help = "type of a token in the file; by default u16, or the type in the header of a .npy file",
          .choices = {"u8", "u16", "u32", "i32", "i64"}},
         {.key = "header",
          .type = OptionType::bytes,
          .default_value = "0",
          .help = "number of bytes before the first token; the files of llm.c have 1024"},
         {.key = "document_end",
          .type = OptionType::integer,
          .help = "id that ends a document; no window extends into the next document. "
                  "To find this id, the files are read once before the run",
          .range = any_id},
         {.key = "pad",
          .type = OptionType::integer,
          .help = "id that pads the last window of a document; the field 'count' has the number of tokens without padding",
          .range = any_id}},
    .probe = probe_tokens,
    .open = open_tokens,
    .is_name_of = [](std::string_view path) { return path.ends_with(".tokens") || path.ends_with(".bin"); }};

}  // namespace trainrt::data::plugins
