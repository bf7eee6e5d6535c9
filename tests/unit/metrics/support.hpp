#pragma once
#include <filesystem>
#include <fstream>
#include <string>

#include "io/files/fenced_directory.hpp"
#include "support/cpp/scratch.hpp"

/// A temporary directory for one test.
class Scratch : public trainrt::test::Scratch {
 public:
  /// Returns the directory as the run directory of an attempt.
  trainrt::io::FencedDirectory run() const {
    std::filesystem::create_directory(path() + "/.private");
    return {path(), path() + "/.private"};
  }
};

inline std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
