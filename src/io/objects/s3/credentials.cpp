#include "io/objects/s3/credentials.hpp"

#include <map>
#include <sstream>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "io/files/file.hpp"

namespace trainrt::io::s3 {

namespace {

using Values = std::map<std::string, std::string>;

std::string path_of(const Environment& environment, const std::string& variable, const std::string& name) {
  if (const auto own = environment.text(variable)) return *own;
  return environment.text("HOME").value_or("") + "/.aws/" + name;
}

/// Returns the keys and values of the section `wanted` of an AWS credentials or config file; nullopt if the file or the
/// section is missing.
std::optional<Values> section_of_file(const std::string& path, const std::string& wanted) {
  if (!exists(path)) return std::nullopt;
  std::optional<Values> values;
  bool is_inside = false;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    const auto text = trim(line);
    if (text.starts_with('[')) {
      is_inside = trim(std::string_view(text).substr(1, text.find(']') - 1)) == wanted;
      if (is_inside && !values) values.emplace();
    } else if (const auto sign = text.find('='); is_inside && sign != std::string::npos && !text.starts_with('#')) {
      (*values)[trim(std::string_view(text).substr(0, sign))] = trim(std::string_view(text).substr(sign + 1));
    }
  }
  return values;
}

std::string profile_name(const Environment& environment, const std::string& given) {
  return given.empty() ? environment.text("AWS_PROFILE").value_or("default") : given;
}

}  // namespace

Credentials find_credentials(const Environment& environment, const std::string& profile) {
  const auto key = environment.text("AWS_ACCESS_KEY_ID").value_or("");
  const auto secret = environment.text("AWS_SECRET_ACCESS_KEY").value_or("");
  if (key.empty() != secret.empty())
    throw UsageError(fmt::format("{} is set, but {} is not: set both or neither",
                                 key.empty() ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID",
                                 key.empty() ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY"));
  if (!key.empty() && profile.empty()) return {key, secret, environment.text("AWS_SESSION_TOKEN").value_or("")};
  const auto name = profile_name(environment, profile);
  const auto path = path_of(environment, "AWS_SHARED_CREDENTIALS_FILE", "credentials");
  const auto values = section_of_file(path, name);
  if (!values && name != "default")
    throw UsageError(fmt::format("'{}' has no profile [{}]; add it, or choose another profile", path, name));
  if (!values) return {};
  const auto value = [&](const std::string& wanted) {
    const auto found = values->find(wanted);
    return found == values->end() ? "" : found->second;
  };
  Credentials found{value("aws_access_key_id"), value("aws_secret_access_key"), value("aws_session_token")};
  if (found.key.empty() || found.secret.empty())
    throw UsageError(
        fmt::format("the profile [{}] in '{}' has no {}; it must set aws_access_key_id and aws_secret_access_key", name,
                    path, found.key.empty() ? "aws_access_key_id" : "aws_secret_access_key"));
  return found;
}

std::string find_region(const Environment& environment, const std::string& profile) {
  for (const auto* variable : {"AWS_REGION", "AWS_DEFAULT_REGION"})
    if (const auto region = environment.text(variable); region && !region->empty()) return *region;
  const auto name = profile_name(environment, profile);
  const auto values =
      section_of_file(path_of(environment, "AWS_CONFIG_FILE", "config"), name == "default" ? name : "profile " + name);
  const auto found = values ? values->find("region") : Values::const_iterator();
  return values && found != values->end() ? found->second : "us-east-1";
}

}  // namespace trainrt::io::s3
