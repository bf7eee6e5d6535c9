#pragma once
#include <csignal>
#include <string>
#include <vector>

namespace trainrt {

/// Blocks all signals of the calling thread while an object exists. Otherwise a signal handler could run in the child of
/// vfork(), which shares the memory of this process.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

/// Returns pointers to `texts`, with a null pointer at the end, for execve(2). They are valid while `texts` is unchanged.
inline std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace trainrt
