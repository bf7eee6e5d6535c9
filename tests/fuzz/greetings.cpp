// Reads the first messages of unknown clients to the ports of a run: Horovod's rendezvous, XGBoost's tracker, MPI's
// exchange.
#include "program/services/admission.hpp"
#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

namespace {

using program::Admission;

const std::string secret = "0123456789abcdef0123456789abcdef";

std::string bytes_of(std::int32_t number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string with_length(const std::string& text) { return bytes_of(static_cast<std::int32_t>(text.size())) + text; }

std::string object_for(const std::string& task) { return R"({"world_size":-1,"rank":-1,"task_id":")" + task + "\"}"; }

/// A decision must not change as more bytes arrive, and no client is admitted without the secret.
template <class Decide>
void check(const Decide& decide, const std::string& input) {
  const auto decided = decide(input, secret);
  for (const auto size : {std::size_t{0}, input.size() / 3, input.size() / 2, input.size() - input.size() / 8}) {
    const auto before = decide(std::string_view(input).substr(0, size), secret);
    require(before == Admission::pending || before == decided, "more bytes do not change the decision");
  }
  if (decided == Admission::granted) require(input.find(secret) != input.npos, "the secret is needed");
  require(decide(input, "") != Admission::granted, "nobody is admitted if there is no secret");
}

}  // namespace

std::vector<std::string> seeds() {
  const auto magic = bytes_of(program::xgboost_magic_number);
  return {secret + bytes_of(1) + bytes_of(0) + bytes_of(7) + bytes_of(4) + "text",
          "GET /" + secret + ":4711/global/0 HTTP/1.1\r\nHost: n1\r\n\r\n",
          "PUT /" + secret + ":4711/global/0 HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
          "DELETE /global/0 HTTP/1.1\r\n\r\n",
          magic + bytes_of(-1) + bytes_of(-1) + with_length("0-" + secret) + with_length("start"),
          magic + with_length(object_for("0-" + secret)) + with_length(R"({"cmd":1,"port":6000})"),
          magic + with_length(object_for("0")),
          magic + bytes_of(-1) + bytes_of(-1) + bytes_of(2'000'000'000),
          magic + with_length(deep_json()),
          secret};
}

std::vector<std::string> words() {
  return {secret,          "0-" + secret,  "/" + secret + ":", "GET ",     "PUT /",
          " HTTP/1.1\r\n", "{\"",          "\"task_id\"",      "[[[[[[[[", bytes_of(program::xgboost_magic_number),
          bytes_of(-1),    bytes_of(4096), bytes_of(34)};
}

/// JSON may encode the secret's digits as \u0030: such a message is valid although the input does not contain the secret.
void read(const std::string& input) {
  check(program::admission_by_beginning, input);
  check(program::admission_by_path, input);
  if (input.find("\\u") == input.npos) check(program::admission_by_task, input);
  program::admission_by_task(input, secret);
}

}  // namespace trainrt::fuzz
