#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/context.hpp>

#include "frameworks/trees/cpus_of_rank.hpp"
#include "frameworks/trees/lightgbm/lightgbm_library.hpp"
#include "frameworks/trees/parameters.hpp"
#include "frameworks/trees/table_layout.hpp"

namespace trainrt::frameworks::trees {

/// LightGBM's parameters for this run under their own names (aliases resolved), and how the run stays exact with them.
class LightgbmParameters {
 public:
  /// UsageError, naming the key of [loop]: for a name that the library does not know, with the nearest one; for one
  /// parameter under two names; for what the train function decides itself; for what cannot be trained like this.
  /// Collective.
  LightgbmParameters(Context& ctx, const LightgbmLibrary& library, const TableLayout& layout, const Parameters& given);

  const std::string& text() const { return text_; }  ///< as the library takes them: "name=value name=value"
  const std::string* find(std::string_view name) const;

  /// The parameter that makes LightGBM keep something between rounds that no model text holds, as "boosting = dart": such a
  /// run goes on by training its rounds again. "": none.
  std::string kept_between_rounds() const;

  /// What to reset before a round, one call after the other, so that its random numbers follow from the seeds and the round
  /// alone. None if no parameter draws any, or the rounds are trained again anyway.
  std::vector<std::string> of_round(int round) const;
  /// What to reset to have the seeds as they were given; "" if of_round() never changes any.
  std::string given_seeds() const;
  bool is_deterministic() const { return is_true("deterministic"); }
  bool bundles() const { return is_true("enable_bundle"); }  ///< features that exclude each other become one
  int threads() const { return std::max(1, static_cast<int>(number("num_threads", 1))); }

 private:
  void take(const std::map<std::string, std::string>& names, const Parameters& given);
  void refuse_what_is_decided_here() const;
  void require_margins(const TableLayout& layout) const;
  void set_defaults(Context& ctx, const TableLayout& layout);
  double number(std::string_view name, double otherwise) const;
  bool is(std::string_view name, std::string_view value) const;
  bool is_true(std::string_view name) const;
  bool draws_rows() const;
  std::vector<std::pair<std::string_view, int>> drawing_seeds() const;

  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> keys_;  ///< as [loop] has them
  std::string text_;
};

}  // namespace trainrt::frameworks::trees
