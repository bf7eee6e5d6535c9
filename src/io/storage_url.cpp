#include "io/storage_url.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/percent.hpp"
#include "core/text/text.hpp"
#include "io/storage.hpp"

namespace trainrt::io {

namespace {

constexpr std::string_view anonymous_word = "anonymous", anonymous_prefix = "anonymous&";

bool is_scheme(std::string_view text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
         std::ranges::all_of(text, [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '+'; });
}

/// Returns whether `text` begins with the name of an option and '='.
bool begins_with_option(std::string_view text) {
  const auto end =
      std::ranges::find_if(text, [](unsigned char letter) { return std::isalpha(letter) == 0 && letter != '_'; });
  return end != text.begin() && end != text.end() && *end == '=';
}

/// Returns the position of the question mark before the options in `text`, or the size of `text` if it has no options.
std::size_t end_of_path(std::string_view text) {
  for (auto mark = text.rfind('?'); mark != std::string_view::npos;
       mark = mark == 0 ? text.npos : text.rfind('?', mark - 1))
    if (begins_with_option(text.substr(mark + 1))) return mark;
  return text.size();
}

/// Returns the error for a URL that contains access keys. `shown`: the part of the URL after its scheme that is quoted.
UsageError access_keys_error(std::string_view scheme, std::string_view shown) {
  return UsageError(
      fmt::format("{}://{}: the URL contains access keys, which would be recorded. Remove them from the URL, and set "
                  "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; in Python, RunConfig(storage_filesystem=...) may have keys",
                  scheme, shown));
}

/// Reads the options of one URL.
class OptionReader {
 public:
  explicit OptionReader(const std::string& scheme) : store_scheme_(scheme), is_s3_(scheme == "s3") {}

  /// Adds options such as "region=eu&scheme=http". Throws UsageError for an unknown option or an invalid value.
  void add(std::string_view text) {
    for (std::size_t at = 0; at <= text.size();) {
      const auto end = std::min(text.find('&', at), text.size());
      const auto word = text.substr(at, end - at);
      if (word == anonymous_word)
        options_.is_anonymous = true;
      else if (!word.empty())
        set(word.substr(0, word.find('=')), percent_decoded(word.substr(std::min(word.find('='), word.size() - 1) + 1)));
      at = end + 1;
    }
  }

  /// Returns the options. Throws UsageError if they contradict each other.
  StoreOptions options() {
    auto& endpoint = options_.endpoint;
    const auto colon = endpoint.find("://");
    if (endpoint.find('@') != std::string::npos) throw access_keys_error(store_scheme_, "...?endpoint_override=...");
    if (endpoint.empty() && scheme_ == "http")
      throw UsageError("scheme=http in the URL of an object store needs endpoint_override=HOST:PORT");
    if (colon != std::string::npos && !scheme_.empty() && endpoint.substr(0, colon) != scheme_)
      throw UsageError(fmt::format("scheme={} contradicts endpoint_override={} in the URL of an object store", scheme_,
                                   excerpt(endpoint)));
    if (!endpoint.empty() && colon == std::string::npos)
      endpoint = fmt::format("{}://{}", scheme_.empty() ? "https" : scheme_, endpoint);
    return options_;
  }

 private:
  void set(std::string_view name, std::string value) {
    if (name == "endpoint_override")
      options_.endpoint = std::move(value);
    else if (name == "region" && is_s3_)
      options_.region = std::move(value);
    else if (name == "scheme")
      scheme_ = one_of(name, std::move(value), {"http", "https"});
    else if ((name == "allow_bucket_creation" || name == "allow_bucket_deletion") && is_s3_)
      one_of(name, std::move(value), {"true", "false", "1", "0"});
    else
      throw UsageError(
          fmt::format("unknown option '{}' in the URL of an object store; valid options: endpoint_override, scheme{}",
                      excerpt(name, 60), is_s3_ ? ", region, allow_bucket_creation, allow_bucket_deletion" : ""));
  }

  static std::string one_of(std::string_view name, std::string value, const std::vector<std::string>& valid) {
    if (std::ranges::find(valid, value) == valid.end())
      throw UsageError(fmt::format("invalid option {}={} in the URL of an object store; valid values: {}", name,
                                   excerpt(value, 60), join(valid)));
    return value;
  }

  std::string store_scheme_;
  bool is_s3_;
  std::string scheme_;  // scheme of the endpoint
  StoreOptions options_;
};

/// Parses the part of a URL after "s3://". `url` has the scheme.
void take_bucket(std::string_view rest, StorageUrl& url) {
  OptionReader reader(url.scheme);
  const auto end = end_of_path(rest);
  const auto path = rest.substr(0, end);
  auto bucket = path.substr(0, path.find('/'));
  url.name = path.substr(std::min(bucket.size() + 1, path.size()));
  if (const auto sign = bucket.rfind('@'); sign != std::string_view::npos) {
    const auto user = bucket.substr(0, sign);
    if (user != anonymous_word && !user.starts_with(anonymous_prefix) && !begins_with_option(user))
      throw access_keys_error(url.scheme, "...@" + excerpt(bucket.substr(sign + 1), 60));
    reader.add(user);
    bucket.remove_prefix(sign + 1);
  }
  if (bucket.find(':') != std::string_view::npos)  // the URL has access keys, with a secret that contains '/'
    throw access_keys_error(url.scheme, "...");
  if (end < rest.size()) reader.add(rest.substr(end + 1));
  url.bucket = bucket;
  url.options = reader.options();
}

}  // namespace

std::optional<StorageUrl> storage_url(std::string_view text) {
  const auto colon = text.find("://");
  if (colon == std::string_view::npos || !is_scheme(text.substr(0, colon))) return std::nullopt;
  StorageUrl url{std::string(text.substr(0, colon)), {}, {}};
  find_plugin(storage_table(), url.scheme, "storage");
  const auto rest = text.substr(colon + 3);
  if (url.scheme != "file") {
    take_bucket(rest, url);
    return url;
  }
  const auto slash = std::min(rest.find('/'), rest.size());
  url.bucket = rest.substr(0, slash);
  url.name = rest.substr(std::min(slash + 1, rest.size()));
  return url;
}

std::string url_in_bucket(const StorageUrl& url, std::string_view name) {
  const auto& options = url.options;
  std::vector<std::string> words;
  if (options.is_anonymous) words.emplace_back(anonymous_word);
  if (!options.endpoint.empty()) words.push_back("endpoint_override=" + percent_encoded(options.endpoint, false));
  if (!options.region.empty()) words.push_back("region=" + percent_encoded(options.region, false));
  return fmt::format("{}://{}{}{}/{}", url.scheme, join(words, "&"), words.empty() ? "" : "@", url.bucket, name);
}

std::string url_below(const std::string& folder, const std::string& name) {
  const auto colon = folder.find("://");
  const auto end = colon == std::string::npos || folder.starts_with("file:") ? folder.size() : end_of_path(folder);
  auto path = folder.substr(0, end);
  while (path.ends_with('/')) path.pop_back();
  return path + "/" + name + folder.substr(end);
}

}  // namespace trainrt::io
