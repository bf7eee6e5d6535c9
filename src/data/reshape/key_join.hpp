#pragma once
#include <string>
#include <vector>

#include "data/batches/dataset_impl.hpp"

namespace trainrt::data {

/// By what two datasets are joined.
struct JoinKey {
  std::vector<std::string> fields;  ///< of both; several make a key together
  Dataset::Unmatched unmatched = Dataset::Unmatched::error;
};

/// Adds the fields of another dataset to each sample, of its one sample with the same key, as Dataset::join() says. The
/// keys of the other one are kept in this rank's memory.
void join_by_key(DatasetImpl& dataset, const DatasetImpl& other, const JoinKey& join);

/// The fields of both. UsageError, as join_by_key() throws it, if the key or another field will not do.
std::vector<Dataset::Field> joined_fields(const std::vector<Dataset::Field>& left, const std::string& left_name,
                                          const std::vector<Dataset::Field>& right, const std::string& right_name,
                                          const JoinKey& join);

}  // namespace trainrt::data
