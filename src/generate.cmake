# Generated sources: the tables of plug-ins, the HDF5 schemas, and the page of `trainrt report`.

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

# trainrt_digest(<variable> <text>): sets 'sha256-...' (base64), the name of a script or style in a content security policy.
function(trainrt_digest variable text)
  set(letters ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(SHA256 hex "${text}")
  set(digest "")
  foreach(at RANGE 0 60 6)  # three bytes become four letters; the last two bytes become three letters and a sign
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

# trainrt_page(<layer>): compiles in the page of `trainrt report` (page.html, page.css, scripts/*.js) and the style of its charts
# (charts/chart.css), for SVG files with the light colors of page.css instead of variables.
function(trainrt_page layer)
  set(view_folder ${TRAINRT_SOURCE}/src/view)
  file(GLOB scripts CONFIGURE_DEPENDS ${view_folder}/page/scripts/*.js)
  list(SORT scripts)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${view_folder}/page/page.html ${view_folder}/page/page.css
               ${view_folder}/charts/chart.css ${scripts})
  file(READ ${view_folder}/page/page.html page)
  file(READ ${view_folder}/page/page.css page_style)
  file(READ ${view_folder}/charts/chart.css chart_style)
  set(style "${page_style}${chart_style}")
  set(script "'use strict';\n")
  foreach(file ${scripts})
    file(READ ${file} text)
    string(APPEND script "${text}")
  endforeach()
  string(REGEX MATCHALL "--[a-z0-9]+: #[0-9a-f]+" colors "${page_style}")  # the light ones are first
  foreach(color ${colors})
    string(REGEX MATCH "^(.*): (.*)$" color ${color})
    string(REPLACE "var(${CMAKE_MATCH_1})" ${CMAKE_MATCH_2} chart_style "${chart_style}")
  endforeach()
  set(members "")
  foreach(member page style script)
    string(APPEND members "      .${member} = R\"-page-(${${member}})-page-\",\n")
  endforeach()
  foreach(member style script)
    trainrt_digest(digest "${${member}}")
    string(APPEND members "      .${member}_digest = \"${digest}\",\n")
  endforeach()
  set(out ${PROJECT_BINARY_DIR}/generated/page_assets)
  file(WRITE ${out}.new  # file(CONFIGURE) would replace @NAMES@ in the script
"// Generated from src/view.
#include \"view/charts/chart_style.hpp\"
#include \"view/page/assets.hpp\"
namespace trainrt::view {
std::string_view chart_style() { return R\"-style-(${chart_style})-style-\"; }
namespace page {
const Assets& assets() {
  static constexpr Assets all = {
${members}  };
  return all;
}
}  // namespace page
}  // namespace trainrt::view
")
  file(COPY_FILE ${out}.new ${out}.cpp ONLY_IF_DIFFERENT)
  target_sources(trainrt_${layer} PRIVATE ${out}.cpp)
  set_source_files_properties(${out}.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
