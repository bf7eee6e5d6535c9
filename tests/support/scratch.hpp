#pragma once
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <trainrt/error.hpp>

namespace trainrt::test {

/// A directory of its own, gone at the end.
class Scratch {
 public:
  Scratch() {
    std::string name = std::filesystem::temp_directory_path() / "trainrt-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The message of the Error that `work` throws; "" if it throws none.
inline std::string error_of(const std::function<void()>& work) {
  try {
    work();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace trainrt::test
