#pragma once
#include <string>

#include <trainrt/context.hpp>

#include "frameworks/trees/xgboost/xgboost_library.hpp"

namespace trainrt::frameworks::trees {

/// What XGBoost says on this thread as long as this lives: lines of the run's log on the first rank; the others say the
/// same, and stay silent. One at a time in a thread.
class XgboostLog {
 public:
  XgboostLog(const XgboostLibrary& library, const Context& ctx);
  ~XgboostLog();
  XgboostLog(const XgboostLog&) = delete;

  void hold();         ///< from now on it is kept
  std::string held();  ///< what was kept; from now on it is printed again

 private:
  static void take(const char* text);

  const Context& ctx_;
  bool is_held_ = false;
  std::string held_;
};

}  // namespace trainrt::frameworks::trees
