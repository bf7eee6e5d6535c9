#include "cli/files/csv_column_names.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::cli {

void CsvColumnNames::add(const std::string& name, const std::string& field) {
  if (const auto [known, is_new] = fields_.emplace(name, field); !is_new)
    throw UsageError(fmt::format("the fields '{}' and '{}' both make a column '{}' of the .csv file: {}", known->second,
                                 field, name, advice_));
}

}  // namespace trainrt::cli
