#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/load/piece_reader.hpp"
#include "checkpoint/load/read_blocks.hpp"
#include "cli/files/new_file.hpp"
#include "cli/inspect/tensor_stream.hpp"
#include "core/plugin.hpp"

namespace trainrt::cli {

/// What is exported: a checkpoint's tensors and values, or some of them.
class ExportSource {
 public:
  using Values = std::vector<const checkpoint::PieceReader::NamedValue*>;

  /// `progress` hears of bytes that were dealt with.
  ExportSource(const checkpoint::PieceReader& reader, Tensors tensors, Values values, checkpoint::OnProgress progress);

  const Tensors& tensors() const { return tensors_; }  ///< by name
  const Values& values() const { return values_; }     ///< by name
  const checkpoint::Meta& meta() const { return reader_.manifest().meta; }
  /// What the manifest says, as a JSON text: {"index": 12, "iteration": 3, ...}, with the user's metadata.
  std::string meta_text() const;

  /// Reads tensors in that order, as stream_tensors() does. A stop signal ends it with an Error.
  void stream(const Tensors& order, const std::function<void(const TensorPiece&)>& take) const;
  void stream(const std::function<void(const TensorPiece&)>& take) const { stream(tensors_, take); }

 private:
  const checkpoint::PieceReader& reader_;
  Tensors tensors_;
  Values values_;
  checkpoint::OnProgress progress_;
};

/// The bytes of a number, little-endian, and of a text.
std::string bytes_of(const checkpoint::PieceReader::Value& value);

/// A plug-in: one file in cli/exporters. Writes a checkpoint as one plain file that other programs read.
struct Exporter {
  std::string_view name;       ///< "npz"
  std::string_view extension;  ///< ".npz": chooses it
  std::string_view help;
  /// Writes the whole file, without a commit. Returns what the user should know of how it differs from the checkpoint.
  std::vector<std::string> (*write)(const ExportSource& source, NewFile& file);
};

PluginTable<Exporter> exporter_table();

/// The exporter for a file's name; nullptr if there is none.
const Exporter* find_exporter(const std::string& path);
/// The same; refuse_extension() if there is none.
const Exporter& exporter_for(const std::string& path);
/// UsageError about a name that no exporter has, with the extensions that there are, and `own_files`: those of the train
/// function's own that the checkpoint has, "" for none.
[[noreturn]] void refuse_extension(const std::string& path, const std::string& own_files);

}  // namespace trainrt::cli
