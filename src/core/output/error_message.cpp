#include "core/output/error_message.hpp"

#include <algorithm>
#include <any>
#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <ios>
#include <memory>
#include <new>
#include <optional>
#include <regex>
#include <string_view>
#include <system_error>
#include <typeinfo>
#include <variant>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/process/memory.hpp"
#include "core/process/stack_trace.hpp"

namespace trainrt {

namespace {

template <class... Types>
bool is_one_of(const std::exception& error) {
  return ((dynamic_cast<const Types*>(&error) != nullptr) || ...);
}

/// Returns whether the text of an exception comes from the C++ library or from nlohmann::json. Such a text names only a
/// function of the library: "vector::_M_range_check: ...".
bool is_of_library(std::string_view text) {
  constexpr std::array beginnings = {
      "vector",    "basic_string", "map::at", "_Map_base::at",           "unordered_map::at",
      "deque",     "array::at",    "bitset",  "invalid vector",          "cannot create std::",
      "basic_ios", "std::",        "bad_",    "invalid string position", "[json.exception."};
  constexpr std::array functions = {"stoi", "stol", "stoul", "stoll", "stoull", "stof", "stod", "stold"};
  return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return text.starts_with(beginning); }) ||
         std::ranges::find(functions, text) != functions.end();
}

/// Returns the error message for an unexpected exception: its own text does not name the failed action.
std::string unexpected(const std::exception& error) {
  return fmt::format(
      "unexpected error '{}' ({}): a bug in the train function, in a library that it uses, or in trainrt. "
      "If the failed code is not yours, report this line with the command and its config",
      error.what(), demangled(typeid(error).name()));
}

/// Returns the error message for a failed operation of std::filesystem. If the operation's path is empty or ".", the usual
/// cause is that the current folder was removed.
std::string of_file(const std::filesystem::filesystem_error& error) {
  const auto path = error.path1().string();
  if (error.code() == std::errc::no_such_file_or_directory && (path.empty() || path == "."))
    return "the current folder no longer exists: change to another one (cd), and run the command again";
  return fmt::format("cannot access '{}': {}; check that the path exists, and its owner and permissions", path,
                     error.code().message());
}

std::string of_system(const std::system_error& error) {
  if (error.code().category() == std::iostream_category()) return unexpected(error);
  switch (error.code().value()) {
    case EAGAIN:
      return fmt::format(
          "cannot start another thread or process on {} ({}): "
          "raise ulimit -u (processes and threads) or ulimit -v (address space), or start fewer ranks per node",
          host_name(), error.what());
    case EMFILE:
      return fmt::format("too many open files on {}: raise ulimit -n", host_name());
    case ENOMEM:
      return out_of_memory_text();
    default:
      return fmt::format("a system call of trainrt failed on {}: {}. Run `trainrt doctor` on that node", host_name(),
                         error.what());
  }
}

}  // namespace

std::string message_of(const std::exception& error) {
  if (is_one_of<Error>(error)) return error.what();
  if (is_one_of<std::bad_alloc>(error)) return out_of_memory_text();
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) return of_file(*file);
  if (const auto* system = dynamic_cast<const std::system_error*>(&error)) return of_system(*system);
  if (is_one_of<std::bad_cast, std::bad_typeid, std::bad_function_call, std::bad_optional_access, std::bad_variant_access,
                std::bad_weak_ptr, std::bad_exception, std::regex_error>(error) ||
      is_of_library(error.what()) || *error.what() == '\0')
    return unexpected(error);
  return error.what();
}

}  // namespace trainrt
