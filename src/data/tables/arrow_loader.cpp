#include "data/tables/arrow_loader.hpp"

#include <algorithm>
#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/module_folders.hpp"
#include "core/process/memory.hpp"
#include "core/text/text.hpp"
#include "data/bytes/input_file.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

namespace {

constexpr std::string_view how_to_get =
    "Apache Arrow comes with Python's package pyarrow: pip install pyarrow, then build trainrt with -DARROW_ROOT=$(python3 "
    "-c 'import pyarrow; print(pyarrow.__path__[0])')";

class InputOfFile final : public TableInput {
 public:
  explicit InputOfFile(const DataFile& file) : file_(file) {}
  std::uint64_t size() const override { return file_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> into) const override { file_.read(offset, into); }

 private:
  InputFile file_;
};

const TableModule& loaded_from(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw UsageError(
        fmt::format("the module {} cannot be loaded: {}. {}", path, why != nullptr ? why : "no reason given", how_to_get));
  }
  const auto* module = static_cast<const TableModule*>(dlsym(library, "trainrt_tables"));
  if (module == nullptr || module->abi != TableModule::current_abi)
    throw UsageError(fmt::format("the module {} belongs to another version of trainrt: build it again", path));
  return *module;
}

const TableModule& load_arrow() {
  std::vector<std::string> folders;
  for (const auto& folder : module_folders()) {
    const auto path = folder / "arrow.so";
    if (access(path.c_str(), R_OK) == 0) return loaded_from(path.string());
    folders.push_back(folder.string());
  }
  throw UsageError(
      fmt::format("Parquet and Arrow files are read and written by the module arrow.so, which is not in {}: trainrt was "
                  "built without Apache Arrow. {}",
                  join(folders, " or "), how_to_get));
}

const TableModule& arrow() {
  static const TableModule& module = load_arrow();  // again after an error
  return module;
}

}  // namespace

std::unique_ptr<const TableFile> open_arrow_file(const std::string& kind, const DataFile& file, const ExpansionLimit& limit,
                                                 std::vector<std::uint64_t> blocks) {
  const auto& module = arrow();
  const auto memory = std::min(available_memory(), limit.bytes());
  try {
    return module.open(kind.c_str(), std::make_shared<InputOfFile>(file), memory, std::move(blocks));
  } catch (const io::StorageError&) {
    throw;
  } catch (const Error& error) {
    throw UsageError(fmt::format("'{}' cannot be read as {}: {}", file.path, kind, error.what()));
  }
}

std::unique_ptr<TableEncoder> arrow_encoder(const std::string& kind, const std::vector<Dataset::Field>& fields,
                                            const std::string& compression) {
  return arrow().encode(kind.c_str(), fields, compression);
}

}  // namespace trainrt::data
