# Sources that are generated: the tables of plug-ins, and the HDF5 schemas as texts.

# trainrt_plugins(<layer> <folder> <header> <record type> <namespace of the table> <table function>): every .cpp of the folder
# defines one `extern const <record>` named after its file in namespace <namespace>::plugins; the table is generated here.
# TRAINRT_SOURCE: the checkout.
function(trainrt_plugins layer folder header record namespace table)
  file(GLOB files CONFIGURE_DEPENDS ${TRAINRT_SOURCE}/src/${folder}/*.cpp)
  list(SORT files)
  set(declarations "")
  set(entries "")
  foreach(file ${files})
    get_filename_component(stem ${file} NAME_WE)
    string(APPEND declarations "extern const ${record} ${stem};\n")
    string(APPEND entries "      &plugins::${stem},\n")
  endforeach()
  string(MAKE_C_IDENTIFIER ${folder} id)
  set(out ${PROJECT_BINARY_DIR}/generated/${id}_table.cpp)
  file(CONFIGURE OUTPUT ${out} CONTENT
"// Generated from the files in src/${folder}.
#include \"${header}\"
namespace ${namespace} {
namespace plugins {
${declarations}}  // namespace plugins
trainrt::PluginTable<${record}> ${table}() {
  static constexpr const ${record}* table[] = {
${entries}  };
  return table;
}
}  // namespace ${namespace}
")
  target_sources(trainrt_${layer} PRIVATE ${files} ${out})
endfunction()

# trainrt_schemas(<layer>): hdf5_schemas/*.json, compiled in.
function(trainrt_schemas layer)
  file(GLOB schemas CONFIGURE_DEPENDS ${TRAINRT_SOURCE}/hdf5_schemas/*.json)
  set(schema_entries "")
  foreach(schema ${schemas})
    get_filename_component(stem ${schema} NAME_WE)
    file(READ ${schema} text)
    string(APPEND schema_entries "    {\"${stem}\", R\"json(${text})json\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${schema})
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/schemas.cpp @ONLY CONTENT
"// Generated from hdf5_schemas/*.json.
#include \"io/schema.hpp\"
namespace trainrt::io {
std::span<const SchemaText> schema_texts() {
  static constexpr SchemaText texts[] = {
${schema_entries}  };
  return texts;
}
}  // namespace trainrt::io
")
  target_sources(trainrt_io PRIVATE ${PROJECT_BINARY_DIR}/generated/schemas.cpp)
endfunction()
