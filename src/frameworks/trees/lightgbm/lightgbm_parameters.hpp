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

/// LightGBM's parameters of this run, by their main names (aliases are resolved), and the changes before each round that
/// make a resumed run exact.
class LightgbmParameters {
 public:
  /// Throws UsageError, which names the key of [loop], for an unknown parameter (with a similar name), two names of one
  /// parameter, a parameter that the train function sets itself, and unsupported values. Collective.
  LightgbmParameters(Context& ctx, const LightgbmLibrary& library, const TableLayout& layout, const Parameters& given);

  const std::string& text() const { return text_; }  ///< for the library: "name=value name=value"
  const std::string* find(std::string_view name) const;

  /// Returns a parameter, such as "boosting = dart", with which LightGBM keeps state between rounds that is not part of
  /// its model. Returns "" if there is no such parameter. With such a parameter, a run resumes by training its rounds
  /// again.
  std::string stateful_parameter() const;

  /// Returns the parameters to set before a round, in separate calls. They make the random numbers of the round depend
  /// only on the seeds and the round. The result is empty if no random numbers are used, or if there is a
  /// stateful_parameter().
  std::vector<std::string> parameters_of_round(int round) const;
  /// Returns the parameters that restore the seeds of [loop] before the model is saved, since a saved model contains its
  /// parameters; "" if parameters_of_round() is always empty.
  std::string given_seeds() const;
  bool is_deterministic() const { return is_true("deterministic"); }
  bool bundles() const { return is_true("enable_bundle"); }  ///< whether LightGBM combines features that exclude each other
  int threads() const { return std::max(1, static_cast<int>(number("num_threads", 1))); }

 private:
  void take(const std::map<std::string, std::string>& names, const Parameters& given);
  void refuse_decided() const;
  void require_margins(const TableLayout& layout) const;
  void set_defaults(Context& ctx, const TableLayout& layout);
  double number(std::string_view name, double otherwise) const;
  bool is(std::string_view name, std::string_view value) const;
  bool is_true(std::string_view name) const;
  bool draws_rows() const;
  std::vector<std::pair<std::string_view, int>> drawing_seeds() const;

  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> keys_;  ///< by main name: the key in [loop]
  std::string text_;
};

}  // namespace trainrt::frameworks::trees
