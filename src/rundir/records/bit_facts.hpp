#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace trainrt::rundir {

/// One text per rank. Equal texts of consecutive ranks are stored once.
class RankTexts {
 public:
  RankTexts() = default;
  explicit RankTexts(const std::vector<std::string>& of_ranks);

  bool empty() const { return runs_.empty(); }
  std::int64_t count() const;  ///< number of ranks
  /// Returns the text of rank `rank`; "" if there is no such rank.
  const std::string& of(std::int64_t rank) const;
  /// Returns the lowest rank whose text is different in `other`; -1 if all texts are equal.
  std::int64_t first_difference(const RankTexts& other) const;

  /// Conversion to a JSON array of pairs [number of ranks, text] and back. from_json() throws std::exception for other
  /// JSON.
  nlohmann::ordered_json to_json() const;
  static RankTexts from_json(const nlohmann::ordered_json& json);

  bool operator==(const RankTexts&) const = default;

 private:
  std::vector<std::pair<std::int64_t, std::string>> runs_;
};

/// Facts about the processes of an attempt that may change the bits of results, even with the same config and data. A fact
/// is empty if it is unknown (records of older versions).
struct BitFacts {
  RankTexts threads;  ///< number of threads of each rank; "4 on 2 CPUs" if the rank has fewer CPUs than threads
  RankTexts cpus;     ///< kind of CPU of each rank (kind_of_cpu())
  std::map<std::string, std::string> versions;  ///< versions of libraries, by name
  RankTexts gpus = {};                          ///< kinds of GPUs of each rank; "none" without GPUs
  /// Values of the environment variables by which libraries choose their code, by name of the variable; nullopt if unknown.
  /// The text "" means that the variable is not set on a rank. Variables that no rank has are left out.
  std::optional<std::map<std::string, RankTexts>> variables = {};
  /// The libraries that computed the values, by name. The text of a rank has the files of the library that the rank has
  /// loaded, with their builds: "libcublas.so.12 (build 1), libcublasLt.so.12 (build 2)". It is "" if the rank has not
  /// loaded the library.
  std::map<std::string, RankTexts> libraries = {};

  bool empty() const { return threads.empty() && cpus.empty() && versions.empty() && libraries.empty(); }
  bool operator==(const BitFacts&) const = default;
};

/// Returns the differences between two attempts with equal numbers of ranks, each as a clause: "the C library was 2.36 and
/// is 2.39". Facts that are unknown in one attempt are left out, and so are files of libraries that a rank has loaded in
/// only one attempt. Files whose names differ only in the version count as the same file. Pure function.
std::vector<std::string> differences(const BitFacts& before, const BitFacts& now);

/// Conversion to JSON and back. bit_facts_from() throws std::exception for invalid JSON.
nlohmann::ordered_json to_json(const BitFacts& facts);
BitFacts bit_facts_from(const nlohmann::ordered_json& json);

}  // namespace trainrt::rundir
