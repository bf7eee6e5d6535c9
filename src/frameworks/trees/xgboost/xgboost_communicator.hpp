#pragma once
#include <trainrt/context.hpp>

#include "frameworks/trees/xgboost/xgboost_library.hpp"

namespace trainrt::frameworks::trees {

/// XGBoost's own communicator among the ranks, of this thread, as long as this lives: connections of all ranks, which find
/// each other by a tracker that the first rank's runtime serves. A rank alone opens nothing.
class XgboostCommunicator {
 public:
  /// Collective.
  XgboostCommunicator(const XgboostLibrary& library, Context& ctx);
  /// Waits for no rank.
  ~XgboostCommunicator();
  XgboostCommunicator(const XgboostCommunicator&) = delete;

 private:
  const XgboostLibrary& xgboost_;
  FrameworkMeeting meeting_;  ///< of one rank: empty
};

}  // namespace trainrt::frameworks::trees
