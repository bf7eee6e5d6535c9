# Generates sources: the tables of plug-ins, and string literals with the HDF5 schemas and the page of `trainrt report`.

# trainrt_plugins(<layer> <folder> <header> <record type> <namespace of the table> <table function>): adds the .cpp files of the
# folder to the layer, and generates the table of their records. Each file defines one `extern const <record>`, named after the
# file, in namespace <namespace>::plugins. The variable TRAINRT_SOURCE is the root of the checkout.
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

# trainrt_schemas(<layer>): generates string literals of hdf5_schemas/*.json.
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
#include \"io/hdf5/untrusted/schema.hpp\"
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

# trainrt_digest(<variable> <text>): sets the variable to 'sha256-...', the base64 digest that identifies a script in a content
# security policy.
function(trainrt_digest variable text)
  set(letters ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(SHA256 hex "${text}")
  set(digest "")
  foreach(at RANGE 0 60 6)  # three bytes are four letters; the last two bytes are three letters and a padding sign
    string(SUBSTRING "${hex}00" ${at} 6 bytes)
    foreach(shift 18 12 6 0)
      math(EXPR letter "(0x${bytes} >> ${shift}) & 63")
      string(SUBSTRING ${letters} ${letter} 1 letter)
      string(APPEND digest ${letter})
    endforeach()
  endforeach()
  string(REGEX REPLACE "A$" "=" digest ${digest})
  set(${variable} "'sha256-${digest}'" PARENT_SCOPE)
endfunction()

# trainrt_page(<layer> <folder>): generates string literals of page.html, page.css, scripts/*.js and the charting library dygraphs
# of the package libjs-dygraphs. Without the library, the charts of the page are static.
function(trainrt_page layer folder)
  set(page_folder ${TRAINRT_SOURCE}/src/${folder})
  find_path(DYGRAPHS dygraph.min.js PATHS /usr/share/javascript/dygraphs NO_DEFAULT_PATH)
  file(GLOB scripts CONFIGURE_DEPENDS ${page_folder}/scripts/*.js)
  list(SORT scripts)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_folder}/page.html ${page_folder}/page.css ${scripts})
  file(READ ${page_folder}/page.html page)
  file(READ ${page_folder}/page.css style)
  set(script "'use strict';\n")
  foreach(file ${scripts})
    file(READ ${file} text)
    string(APPEND script "${text}")
  endforeach()
  set(charts "")
  if(DYGRAPHS)
    file(READ ${DYGRAPHS}/dygraph.min.js charts)
    string(REGEX REPLACE "//# sourceMappingURL[^\n]*" "" charts "${charts}")
    if(EXISTS /usr/share/doc/libjs-dygraphs/copyright)  # the MIT licence requires the notice in every copy
      file(READ /usr/share/doc/libjs-dygraphs/copyright licence)
      string(REPLACE "*/" "* /" licence "${licence}")
      set(charts "/*\n${licence}*/\n${charts}")
    endif()
    file(READ ${DYGRAPHS}/dygraph.min.css chart_style)
    string(REGEX REPLACE "/\\*# sourceMappingURL[^\n]*" "" chart_style "${chart_style}")
    set(style "${chart_style}\n${style}")
  else()
    message(STATUS "dygraphs was not found (package libjs-dygraphs): the charts of `trainrt report` will be static")
  endif()
  set(members "")
  foreach(member page style script charts)
    string(APPEND members "      .${member} = R\"-page-(${${member}})-page-\",\n")
  endforeach()
  foreach(member script charts)
    trainrt_digest(digest "${${member}}")
    string(APPEND members "      .${member}_digest = \"${digest}\",\n")
  endforeach()
  set(out ${PROJECT_BINARY_DIR}/generated/page_assets)
  file(WRITE ${out}.new  # file(CONFIGURE) would replace @NAMES@ in it
"// Generated from src/${folder}.
#include \"view/page/assets.hpp\"
namespace trainrt::view::page {
const Assets& assets() {
  static constexpr Assets all = {
${members}  };
  return all;
}
}  // namespace trainrt::view::page
")
  file(COPY_FILE ${out}.new ${out}.cpp ONLY_IF_DIFFERENT)
  file(GLOB files CONFIGURE_DEPENDS ${page_folder}/*.cpp)
  target_sources(trainrt_${layer} PRIVATE ${files} ${out}.cpp)
  set_source_files_properties(${out}.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
