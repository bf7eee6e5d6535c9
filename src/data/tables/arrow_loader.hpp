#pragma once
#include <memory>
#include <string>
#include <vector>

#include "data/bytes/data_file.hpp"
#include "data/bytes/expansion.hpp"
#include "data/tables/table_abi.hpp"

namespace trainrt::data {

/// Opens a file of that kind ("parquet", "arrow") by the module arrow.so, which is loaded now if it is not yet. `blocks` as
/// in TableModule. Arrow's own buffers take no more memory than `limit`. Throws UsageError that names the file and what is
/// wrong with it, or says how to get the module.
std::unique_ptr<const TableFile> open_arrow_file(const std::string& kind, const DataFile& file, const ExpansionLimit& limit,
                                                 std::vector<std::uint64_t> blocks);

/// Writes a file of that kind ("parquet") by the same module. Throws UsageError that names a field that the file cannot
/// hold.
std::unique_ptr<TableEncoder> arrow_encoder(const std::string& kind, const std::vector<Dataset::Field>& fields,
                                            const std::string& compression);

}  // namespace trainrt::data
