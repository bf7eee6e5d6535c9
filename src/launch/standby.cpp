#include "launch/standby.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "core/descriptor.hpp"
#include "core/environment.hpp"
#include "core/process/processes.hpp"

namespace trainrt::launch {

namespace {

// The text on the pipe: each variable as "NAME=VALUE" and a zero byte, then one more zero byte.
constexpr std::string_view end_of_text("\0\0", 2);

/// Reads `pipe` to its end.
std::string read_all(int pipe) {
  std::string text;
  std::array<char, 65536> bytes{};
  for (;;) {
    const auto count = read(pipe, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

void set_variables(std::string_view text) {
  for (auto end = text.find('\0'); end != std::string_view::npos && end > 0; end = text.find('\0')) {
    const std::string variable(text.substr(0, end));
    const auto equals = variable.find('=');
    setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
    text.remove_prefix(end + 1);
  }
}

/// While an object of this class exists, ps(1) and top(1) show this process as a standby process. The object changes the
/// name in /proc/PID/comm. It also overwrites the first word of the command line, the path of trainrt, if that word is long
/// enough. Must be used while this process has one thread.
class StandbyName {
 public:
  StandbyName() : first_word_(program_invocation_name) {
    prctl(PR_GET_NAME, name_.data());
    prctl(PR_SET_NAME, standby_name);
    const std::string_view shown = standby_name;
    if (first_word_.size() < shown.size()) return;
    std::ranges::fill_n(program_invocation_name, static_cast<std::ptrdiff_t>(first_word_.size()), ' ');
    std::ranges::copy(shown, program_invocation_name);
  }
  ~StandbyName() {
    prctl(PR_SET_NAME, name_.data());
    std::ranges::copy(first_word_, program_invocation_name);
  }
  StandbyName(const StandbyName&) = delete;
  StandbyName& operator=(const StandbyName&) = delete;

 private:
  std::array<char, 16> name_{};
  std::string first_word_;
};

}  // namespace

bool wait_if_standby(const std::function<void()>& prepare) {
  const auto number = Environment::of_process().number(standby_variable);
  if (!number) return true;
  unsetenv(standby_variable);
  std::string text;
  {
    const StandbyName name;
    const Descriptor pipe(*number);
    prepare();
    text = read_all(pipe.get());
  }
  if (!text.ends_with(end_of_text)) return false;
  set_variables(text);
  begin_process_time();
  return true;
}

void wake_standby(pid_t process, int pipe, const Variables& variables) {
  std::string text;
  for (const auto& [name, value] : variables) text += name + "=" + value + '\0';
  if (text.empty()) text += '\0';
  text += '\0';
  kill(process, SIGCONT);  // a process that is stopped would not begin
  for (std::string_view rest = text; !rest.empty();) {
    const auto count = write(pipe, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace trainrt::launch
