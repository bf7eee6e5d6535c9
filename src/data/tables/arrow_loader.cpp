#include "data/tables/arrow_loader.hpp"

#include <algorithm>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/module_folders.hpp"
#include "core/process/memory.hpp"
#include "core/text/text.hpp"
#include "data/bytes/expansion.hpp"
#include "data/bytes/input_file.hpp"
#include "data/tables/table_source.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

namespace {

constexpr std::string_view install_help =
    "To install it: pip install pyarrow, then build trainrt with -DARROW_ROOT=$(python3 -c 'import pyarrow; "
    "print(pyarrow.__path__[0])'). "
    "Without such a build, convert each Parquet file once, with the packages pandas and pyarrow: "
    "python3 -c \"import pandas; pandas.read_parquet('x.parquet').to_csv('x.csv', index=False)\"";

class FileInput final : public TableInput {
 public:
  explicit FileInput(const DataFile& file) : file_(file) {}
  std::uint64_t size() const override { return file_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> into) const override { file_.read(offset, into); }

 private:
  InputFile file_;
};

const TableModule& load_module(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw UsageError(fmt::format("the module {} cannot be loaded: {}. {}", path, why != nullptr ? why : "no reason given",
                                 install_help));
  }
  const auto* module = static_cast<const TableModule*>(dlsym(library, "trainrt_tables"));
  if (module == nullptr || module->abi != TableModule::current_abi)
    throw UsageError(fmt::format("the module {} was built with another version of trainrt; build trainrt again", path));
  return *module;
}

const TableModule& find_and_load_module() {
  std::vector<std::string> folders;
  for (const auto& folder : module_folders()) {
    const auto path = folder / "arrow.so";
    if (access(path.c_str(), R_OK) == 0) return load_module(path.string());
    folders.push_back(folder.string());
  }
  throw UsageError(
      fmt::format("Parquet and Arrow files are read and written by the module arrow.so, which is not in {}: "
                  "trainrt was built without Apache Arrow. {}",
                  join(folders, " or "), install_help));
}

const TableModule& arrow_module() {
  static const TableModule& module = find_and_load_module();  // if this throws, the next call tries again
  return module;
}

std::unique_ptr<const TableReader> open_reader(const char* format, const DataFile& file, const Options& options,
                                               std::vector<std::uint64_t> blocks) {
  const auto& module = arrow_module();
  const auto max_memory = std::min(available_memory(), ExpansionLimit(options, file.size).bytes());
  try {
    return module.open(format, std::make_shared<FileInput>(file), max_memory, std::move(blocks));
  } catch (const io::StorageError&) {
    throw;
  } catch (const Error& error) {
    throw UsageError(fmt::format("'{}' cannot be read as {}: {}", file.path, format, error.what()));
  }
}

}  // namespace

FileContent probe_arrow_file(const char* format, const DataFile& file, const Options& options) {
  return content_of(table_plan(*open_reader(format, file, options, {}), options, file.path));
}

std::unique_ptr<Source> open_arrow_file(const char* format, const DataFile& file, const FileContent& content,
                                        const Options& options, bool keep) {
  return open_table(file, content, options, keep ? Keep::if_small : Keep::never, [&](std::vector<std::uint64_t> blocks) {
    return open_reader(format, file, options, std::move(blocks));
  });
}

std::unique_ptr<TableEncoder> make_arrow_encoder(const char* format, const std::vector<Dataset::Field>& fields,
                                                 const std::string& compression) {
  return arrow_module().encode(format, fields, compression);
}

}  // namespace trainrt::data
