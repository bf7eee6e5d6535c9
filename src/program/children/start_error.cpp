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

/// Returns the first 256 bytes of a file, in which the kernel searches for the interpreter; "" if the file cannot be
/// read.
std::string beginning_of(const std::string& file) {
  std::array<char, 256> bytes{};
  std::ifstream in(file, std::ios::binary);
  in.read(bytes.data(), bytes.size());
  return {bytes.data(), static_cast<std::size_t>(in.gcount())};
}

/// Returns the interpreter in the first line of a script: "/usr/bin/python3\r" for "#! /usr/bin/python3\r\n..."; "" if
/// the line names no interpreter.
std::string interpreter_in(std::string_view beginning) {
  auto line = beginning.substr(script_mark.size());
  line = line.substr(0, line.find('\n'));
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  line.remove_prefix(first);
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

std::string script_advice(const std::string& file, const std::string& interpreter, int error_number) {
  if (interpreter.empty() || interpreter == "\r")
    return "its first line names no interpreter after #!; write #!/bin/sh or #!/usr/bin/env python3";
  if (interpreter.ends_with('\r'))
    return fmt::format(
        "its lines end with a carriage return, as on Windows, so that the interpreter is '{}'; "
        "convert the file (dos2unix {}, or sed -i 's/\\r$//' {})",
        printable_text(interpreter), file, file);
  return fmt::format(
      "its first line names the interpreter '{}', which {} on this node; "
      "correct the line, or load the module that provides the interpreter",
      printable_text(interpreter), error_number == ENOENT ? "does not exist" : "cannot be executed");
}

/// Returns the cause and a remedy if the content of the file explains the error; "" otherwise.
std::string file_advice(const std::string& file, int error_number) {
  const auto beginning = beginning_of(file);
  if (beginning.starts_with(script_mark)) return script_advice(file, interpreter_in(beginning), error_number);
  const bool is_elf = beginning.starts_with(elf_mark);
  if (error_number == ENOENT)
    return is_elf
               ? "the dynamic loader that it was linked for does not exist on this node; build the program on this system"
               : "";
  if (error_number == EACCES) return "check its permissions, and that its file system is not mounted with noexec";
  if (is_elf) return "it is damaged or was built for another processor; build it on this system";
  if (beginning.empty()) return "the file is empty or cannot be read";
  return fmt::format(
      "it is neither an executable nor a script that begins with #!; "
      "add the line #!/bin/sh, or name the interpreter: -- sh {}",
      file);
}

std::string machine_advice(int error_number) {
  switch (error_number) {
    case E2BIG:
      return "its arguments and environment are too long; shorten them";
    case EAGAIN:
      return "raise ulimit -u (processes and threads), or start fewer ranks per node";
    case ENOMEM:
      return "give the job more memory, or start fewer ranks per node";
    case EMFILE:
      return "raise ulimit -n (open files)";
    case ETXTBSY:
      return "another program is writing the file; wait until it has been copied or linked";
    default:
      return "check that it starts without trainrt on this node";
  }
}

bool is_of_file(int error_number) { return error_number == ENOENT || error_number == ENOEXEC || error_number == EACCES; }

}  // namespace

void throw_not_started(const std::string& executable, int error_number) {
  auto advice = is_of_file(error_number) ? file_advice(executable, error_number) : machine_advice(error_number);
  if (advice.empty()) advice = machine_advice(error_number);
  const auto text =
      fmt::format("train.program: '{}' cannot be started: {}; {}", executable, std::strerror(error_number), advice);
  if (is_of_file(error_number) || error_number == E2BIG) throw UsageError(text);
  throw Error(text);
}

std::string not_found_in_words(const std::string& name) {
  std::error_code none;
  if (name.find('/') == std::string::npos)
    return fmt::format("train.program: executable '{}' not found in the PATH of this node{}", name,
                       std::filesystem::is_regular_file(name, none)
                           ? fmt::format("; to run the file of the current folder, use ./{}", name)
                           : "");
  if (std::filesystem::is_regular_file(name, none))
    return fmt::format(
        "train.program: '{}' is not executable on this node; make it executable (chmod +x), or name its interpreter: "
        "-- python3 {}",
        name, name);
  if (std::filesystem::is_directory(name, none))
    return fmt::format("train.program: '{}' is a folder, not an executable", name);
  return fmt::format("train.program: executable '{}' does not exist on this node", name);
}

}  // namespace trainrt::program
