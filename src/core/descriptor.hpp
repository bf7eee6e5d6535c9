#pragma once
#include <utility>

#include <unistd.h>

namespace trainrt {

/// Owns a file descriptor and closes it in the destructor. The number -1 means that the object owns no descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// Gives up ownership: returns the descriptor, which the caller must close. The object is empty afterwards.
  int release() { return std::exchange(number_, -1); }
  /// Closes the descriptor at once, if the object owns one.
  void reset() {
    if (number_ >= 0) close(release());
  }

 private:
  int number_ = -1;
};

}  // namespace trainrt
