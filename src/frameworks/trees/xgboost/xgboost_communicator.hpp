#pragma once
#include <exception>

#include <trainrt/context.hpp>

#include "frameworks/trees/xgboost/xgboost_library.hpp"

namespace trainrt::frameworks::trees {

/// XGBoost's own communicator among the ranks, of this thread, as long as this lives: connections of all ranks, which find
/// each other by a tracker that the first rank's runtime serves. A rank alone opens nothing.
class XgboostCommunicator {
 public:
  /// Collective.
  XgboostCommunicator(const XgboostLibrary& library, Context& ctx);
  /// Waits for no rank. Closes the connections, unless may_fail() has failed.
  ~XgboostCommunicator();
  XgboostCommunicator(const XgboostCommunicator&) = delete;

  /// Calls what other ranks wait for within XGBoost. If it throws, the connections stay open: if they close, a call of
  /// XGBoost's fails on the other ranks, which would end the run before this rank's own error is told.
  template <class Call>
  auto may_fail(const Call& call) try {
    return call();
  } catch (const std::exception&) {
    has_failed_ = true;
    throw;
  }

 private:
  const XgboostLibrary& xgboost_;
  FrameworkMeeting meeting_;  ///< of one rank: empty
  bool has_failed_ = false;
};

}  // namespace trainrt::frameworks::trees
