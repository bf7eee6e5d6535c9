#pragma once
#include <optional>
#include <span>
#include <string>

namespace trainrt::batch {

/// One attempt of a run that ended, and the node that caused its end.
struct NodeEnd {
  int attempt = 0;
  std::string node;  ///< name of the node; "" if no node is to blame
  /// True if the attempt stopped because the node slowed the other nodes down; false if the attempt failed.
  bool slow = false;
  std::string why;  ///< why the attempt ended, as a phrase for messages
};

/// The rules in the config for excluding bad or slow nodes from later attempts of the run.
struct ExclusionRules {
  int min_ends = 0;   ///< number of failed attempts that exclude a node; 0: never exclude
  int max_nodes = 0;  ///< maximum number of excluded nodes at a time
};

/// A node that the run should avoid in later attempts, because attempts failed on it or it is slow.
struct BadNode {
  std::string name;
  std::string why;          ///< reason for messages: "3 attempts ended on this node (4, 5, 7)", with the attempt numbers
  bool can_exclude = true;  ///< false if the maximum number of nodes is excluded already
};

/// Returns the node that caused the end of the newest attempt, if the run should avoid this node in later attempts;
/// nullopt otherwise. Pure function.
/// - A slow node is excluded at once.
/// - Any other node is excluded if it ended at least `min_ends` attempts, and at least half of all attempts that ended
///   because of a node. A program that fails on any node therefore does not exclude nodes.
///
/// `ends` lists the newest attempts of the run, oldest first. Nodes in `excluded` are already excluded and never returned.
std::optional<BadNode> bad_node(std::span<const NodeEnd> ends, std::span<const std::string> excluded,
                                const ExclusionRules& rules);

}  // namespace trainrt::batch
