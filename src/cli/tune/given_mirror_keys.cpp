#include "cli/tune/given_mirror_keys.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "core/descriptor.hpp"
#include "core/environment.hpp"
#include "io/storage.hpp"

namespace trainrt::cli {

namespace {

constexpr const char* variable = "TRAINRT_STORE_KEYS_FD";

/// Reads the pipe to its end and returns the content. Precondition: the other end is closed, so that reads do not wait.
std::string content_of(int pipe) {
  std::string text;
  std::array<char, 4096> block{};
  for (ssize_t count = 0; (count = ::read(pipe, block.data(), block.size())) > 0;)
    text.append(block.data(), static_cast<std::size_t>(count));
  return text;
}

}  // namespace

void take_given_mirror_keys() {
  const auto number = Environment::of_process().number(variable);
  ::unsetenv(variable);
  struct stat status {};
  if (!number || ::fstat(*number, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
  const Descriptor pipe(*number);
  const auto keys = nlohmann::json::parse(content_of(pipe.get()), nullptr, false);
  if (!keys.is_object()) return;
  io::set_mirror_keys({keys.value("key", ""), keys.value("secret", ""), keys.value("token", "")});
}

}  // namespace trainrt::cli
