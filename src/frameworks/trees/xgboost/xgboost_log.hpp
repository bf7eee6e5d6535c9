#pragma once
#include <string>

#include <trainrt/context.hpp>

#include "frameworks/trees/xgboost/xgboost_library.hpp"

namespace trainrt::frameworks::trees {

/// Forwards the log lines of XGBoost in this thread to the run's log while the object exists. Only rank 0 forwards
/// them, since the lines of all ranks are the same. At most one object per thread may exist at a time.
class XgboostLog {
 public:
  XgboostLog(const XgboostLibrary& library, const Context& ctx);
  ~XgboostLog();
  XgboostLog(const XgboostLog&) = delete;

  void hold();            ///< begins to collect the lines instead
  std::string release();  ///< returns the collected lines, and ends collecting

 private:
  static void take(const char* text);

  const Context& ctx_;
  bool is_held_ = false;
  std::string held_;
};

}  // namespace trainrt::frameworks::trees
