#pragma once
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include <unistd.h>

namespace trainrt::test {

/// Captures the standard error of this process while this object lives.
class CapturedErrors {
 public:
  CapturedErrors() : captured_(std::tmpfile()), before_(dup(STDERR_FILENO)) {
    if (captured_ == nullptr || before_ < 0 || dup2(fileno(captured_), STDERR_FILENO) < 0)
      throw std::system_error(errno, std::generic_category(), "cannot capture standard error");
  }
  ~CapturedErrors() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    std::fclose(captured_);
  }
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;

  std::string text() const {
    std::string all;
    std::rewind(captured_);
    for (int c = std::fgetc(captured_); c != EOF; c = std::fgetc(captured_)) all += static_cast<char>(c);
    return all;
  }

 private:
  std::FILE* captured_;
  int before_;
};

}  // namespace trainrt::test
