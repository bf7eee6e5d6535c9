#include "io/objects/s3/address.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/percent.hpp"

namespace trainrt::io::s3 {

namespace {

bool is_bucket_name(std::string_view name) {
  constexpr std::size_t max_size = 255;
  return !name.empty() && name.size() <= max_size && std::ranges::all_of(name, [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '-' || letter == '.' || letter == '_';
  }) && name.front() != '.';
}

/// Returns whether the name of a bucket can be a component of a host name that Amazon's TLS certificate covers.
bool fits_into_host(std::string_view bucket) {
  return std::ranges::all_of(bucket, [](unsigned char letter) {
    return (std::isdigit(letter) != 0) || (letter >= 'a' && letter <= 'z') || letter == '-';
  });
}

}  // namespace

Address::Address(std::string bucket, const std::string& endpoint, const std::string& region) : bucket_(std::move(bucket)) {
  if (!is_bucket_name(bucket_))
    throw UsageError(fmt::format("invalid bucket name '{}'; valid characters: letters, digits, '-', '.' and '_'", bucket_));
  if (endpoint.empty()) {
    endpoint_ = fmt::format("https://s3.{}.amazonaws.com", region);
    base_ = fits_into_host(bucket_) ? fmt::format("https://{}.s3.{}.amazonaws.com/", bucket_, region)
                                    : fmt::format("{}/{}/", endpoint_, bucket_);
    return;
  }
  endpoint_ = endpoint;
  while (endpoint_.ends_with('/')) endpoint_.pop_back();
  const bool is_url = endpoint_.starts_with("http://") || endpoint_.starts_with("https://");
  const bool is_plain = endpoint_.find_first_of("@?# ") == std::string::npos;
  if (!is_url || !is_plain)
    throw UsageError(
        "invalid endpoint of an object store; it must be a URL without user, like http://host:9000 or https://host");
  base_ = fmt::format("{}/{}/", endpoint_, bucket_);
}

std::string Address::of_object(std::string_view key) const { return base_ + percent_encoded(key, true); }

std::string Address::with(std::string_view key, std::vector<std::pair<std::string, std::string>> query) const {
  std::ranges::sort(query);
  auto url = of_object(key);
  char sign = '?';
  for (const auto& [name, value] : query) {
    url += fmt::format("{}{}={}", sign, percent_encoded(name, false), percent_encoded(value, false));
    sign = '&';
  }
  return url;
}

bool has_dot_segment(std::string_view url) {
  const auto path = std::string(url.substr(0, url.find('?'))) + "/";
  return path.find("/./") != std::string::npos || path.find("/../") != std::string::npos;
}

}  // namespace trainrt::io::s3
