#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/plugin.hpp"
#include "program/staging/chunk_queue.hpp"

namespace trainrt::program::stage {

/// Number and size of the files in a tree.
struct TreeSize {
  std::int64_t files = 0;     ///< number of files and links, without folders
  std::int64_t bytes = 0;     ///< total size of the files
  std::int64_t left_out = 0;  ///< number of devices, pipes and sockets, which are not copied
};

/// Consumes the next bytes of a stream. Throws Cancelled after ChunkQueue::cancel().
using Emit = std::function<void(std::span<const char> bytes)>;
/// Returns the next bytes of a stream, which are valid until the next call; empty at the end of the stream.
using Fetch = std::function<std::span<const char>()>;

/// A plug-in for one format of the source in program.stage. Each plug-in is one file in program/staging/formats. One
/// rank converts the source to a byte stream by read(). Each node converts the stream to a tree by unpack(). Both
/// functions run in threads that have their own current folder. They throw an Error, which names the file, if a file
/// cannot be read or written.
struct StageFormat {
  std::string_view name;
  std::string_view help;
  /// Returns whether the source at `path` has this format. The function decides by the first bytes of the content and
  /// not by the name.
  bool (*fits)(const std::string& path);
  /// Emits the source as a byte stream, and returns the identity() of the content that was read.
  std::string (*read)(const std::string& path, const Emit& emit);
  /// Returns a text that identifies the state of the source. It is computed from sizes, modification times and other
  /// metadata, but not from contents: a change that keeps the metadata is not detected.
  std::string (*identity)(const std::string& path);
  /// Unpacks the byte stream into the current folder, which is empty. Must not create files outside of the current
  /// folder for any stream.
  TreeSize (*unpack)(const Fetch& fetch);
  /// Returns why this node cannot unpack the format, with a remedy; "" if the node can unpack it.
  std::string (*missing)();
};

PluginTable<StageFormat> format_table();

/// Returns the format of the source at `path`. Throws UsageError if the source does not exist, cannot be read, or has
/// an unknown format.
const StageFormat& format_of(const std::string& path);

}  // namespace trainrt::program::stage
