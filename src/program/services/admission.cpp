#include "program/services/admission.hpp"

#include <cstring>

#include <nlohmann/json.hpp>

#include "core/text/json_depth.hpp"
#include "program/rendezvous/nonce.hpp"

namespace trainrt::program {

namespace {

constexpr std::size_t number_bytes = sizeof(std::int32_t);

Admission granted_if(bool has_secret) { return has_secret ? Admission::granted : Admission::refused; }

/// Returns the 32-bit number at byte `at` of `bytes`. Precondition: `bytes` contains these four bytes.
std::int32_t number_at(std::string_view bytes, std::size_t at) {
  std::int32_t number = 0;
  std::memcpy(&number, bytes.substr(at).data(), sizeof number);
  return number;
}

/// Returns the string "task_id" of a JSON object, or "" if `json` has no such string.
std::string task_in(std::string_view json) {
  if (is_nested_deeper(json, max_json_depth)) return {};
  const auto object = nlohmann::json::parse(json, nullptr, false);
  if (!object.is_object()) return {};
  const auto task = object.find("task_id");
  return task != object.end() && task->is_string() ? task->get<std::string>() : std::string();
}

}  // namespace

Admission admission_by_beginning(std::string_view received, std::string_view secret) {
  if (received.size() < secret.size()) return Admission::pending;
  return granted_if(is_same_secret(received.substr(0, secret.size()), secret));
}

Admission admission_by_path(std::string_view received, std::string_view secret) {
  constexpr std::size_t max_method_bytes = 16;
  const auto blank = received.substr(0, max_method_bytes + 1).find(' ');
  if (blank == std::string_view::npos) return received.size() > max_method_bytes ? Admission::refused : Admission::pending;
  const auto target = received.substr(blank + 1);
  if (!target.empty() && target.front() != '/') return Admission::refused;
  if (target.size() < secret.size() + 2) return Admission::pending;
  return granted_if(is_same_secret(target.substr(1, secret.size()), secret) && target[secret.size() + 1] == ':');
}

Admission admission_by_task(std::string_view received, std::string_view secret) {
  constexpr std::size_t max_task_bytes = 4096;
  if (received.size() < number_bytes) return Admission::pending;
  if (number_at(received, 0) != xgboost_magic_number) return Admission::refused;
  if (received.size() < 3 * number_bytes) return Admission::pending;
  const bool is_json = received.substr(2 * number_bytes).starts_with("{\"");
  const auto length_at = is_json ? number_bytes : 3 * number_bytes;  // in rabit, two numbers precede the length
  if (received.size() < length_at + number_bytes) return Admission::pending;
  const auto length = number_at(received, length_at);
  if (length < 0 || static_cast<std::size_t>(length) > max_task_bytes) return Admission::refused;
  const auto text = received.substr(length_at + number_bytes, static_cast<std::size_t>(length));
  if (text.size() < static_cast<std::size_t>(length)) return Admission::pending;
  return granted_if(rank_in_task(is_json ? task_in(text) : std::string(text), secret).has_value());
}

std::optional<std::string> rank_in_task(std::string_view task, std::string_view secret) {
  const auto dash = task.find('-');
  if (dash == std::string_view::npos || !is_same_secret(task.substr(dash + 1), secret)) return std::nullopt;
  return std::string(task.substr(0, dash));
}

}  // namespace trainrt::program
