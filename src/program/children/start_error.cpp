#include "program/children/start_error.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/printable.hpp"

namespace trainrt::program {

namespace {

constexpr std::string_view script_mark = "#!", elf_mark =
                                                   "\x7f"
                                                   "ELF";

/// The first bytes of a file, as many as the kernel looks at; "" if it cannot be read.
std::string beginning_of(const std::string& file) {
  std::array<char, 256> bytes{};
  std::ifstream in(file, std::ios::binary);
  in.read(bytes.data(), bytes.size());
  return {bytes.data(), static_cast<std::size_t>(in.gcount())};
}

/// "/usr/bin/python3\r" of "#! /usr/bin/python3\r\n..."; "" if the line names none.
std::string interpreter_in(std::string_view beginning) {
  auto line = beginning.substr(script_mark.size());
  line = line.substr(0, line.find('\n'));
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  line.remove_prefix(first);
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

std::string of_script(const std::string& file, const std::string& interpreter, int error_number) {
  if (interpreter.empty() || interpreter == "\r")
    return "its first line, #!, names no interpreter: write #!/bin/sh or #!/usr/bin/env python3 there";
  if (interpreter.ends_with('\r'))
    return fmt::format(
        "its lines end with a carriage return, as those of Windows do, so that it asks for the interpreter "
        "'{}': convert it (dos2unix {}, or sed -i 's/\\r$//' {})",
        printable_text(interpreter), file, file);
  return fmt::format(
      "its first line names the interpreter '{}', which {} on this node: correct the line, or load the module "
      "that has it",
      printable_text(interpreter), error_number == ENOENT ? "does not exist" : "cannot be executed");
}

/// Why and what to do, of errors that come from the file itself; "" for others.
std::string of_file(const std::string& file, int error_number) {
  const auto beginning = beginning_of(file);
  if (beginning.starts_with(script_mark)) return of_script(file, interpreter_in(beginning), error_number);
  const bool is_elf = beginning.starts_with(elf_mark);
  if (error_number == ENOENT)
    return is_elf ? "the loader that it is linked for does not exist on this node: build it on this system" : "";
  if (error_number == EACCES) return "check its permissions, and that its file system is not mounted with noexec";
  if (is_elf) return "it is damaged, or built for another kind of processor: build it on this system";
  if (beginning.empty()) return "the file is empty, or cannot be read";
  return fmt::format(
      "it is neither a program nor a script that begins with #!: write #!/bin/sh into its first line, or "
      "name the interpreter, as in: -- sh {}",
      file);
}

std::string of_machine(int error_number) {
  switch (error_number) {
    case E2BIG:
      return "its arguments and its environment are too long together: shorten them";
    case EAGAIN:
      return "raise ulimit -u (processes and threads), or start fewer ranks per node";
    case ENOMEM:
      return "give the job more memory, or start fewer ranks per node";
    case EMFILE:
      return "raise ulimit -n (open files)";
    case ETXTBSY:
      return "another program is writing it: wait until it has been copied or linked";
    default:
      return "check that it starts without trainrt on this node";
  }
}

bool is_of_file(int error_number) { return error_number == ENOENT || error_number == ENOEXEC || error_number == EACCES; }

}  // namespace

void throw_not_started(const std::string& executable, int error_number) {
  auto advice = is_of_file(error_number) ? of_file(executable, error_number) : of_machine(error_number);
  if (advice.empty()) advice = of_machine(error_number);
  const auto text =
      fmt::format("train.program: '{}' cannot be started: {}; {}", executable, std::strerror(error_number), advice);
  if (is_of_file(error_number) || error_number == E2BIG) throw UsageError(text);
  throw Error(text);
}

std::string not_found_in_words(const std::string& name) {
  std::error_code none;
  if (name.find('/') == std::string::npos)
    return fmt::format("train.program: there is no executable '{}' on the PATH of this node{}", name,
                       std::filesystem::is_regular_file(name, none) ? fmt::format("; the file here is ./{}", name) : "");
  if (std::filesystem::is_regular_file(name, none))
    return fmt::format(
        "train.program: '{}' is not executable on this node: make it so (chmod +x), or name its interpreter, "
        "as in: -- python3 {}",
        name, name);
  if (std::filesystem::is_directory(name, none))
    return fmt::format("train.program: there is no executable '{}' on this node: it is a folder", name);
  return fmt::format("train.program: there is no executable '{}' on this node", name);
}

}  // namespace trainrt::program
