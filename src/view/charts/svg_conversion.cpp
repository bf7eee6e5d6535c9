// Converts SVG files to PNG and PDF by librsvg and Cairo. This file declares the library functions that it calls. The
// ABIs of these functions are stable from librsvg 2.52 and Cairo 1.12 on.
#include "view/charts/svg_conversion.hpp"

#include <dlfcn.h>

#include <memory>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::view {

namespace {

constexpr auto svg_library = "librsvg-2.so.2";
constexpr int argb32 = 0;
constexpr double points_per_pixel = 0.75;

struct Rectangle {
  double x = 0, y = 0, width = 0, height = 0;
};
struct GlibError {
  unsigned domain;
  int code;
  char* message;
};
using Write = int (*)(void* file, const unsigned char* bytes, unsigned size);

/// The library functions that convert_svg() calls. dlsym(3) finds the functions of Cairo and GLib in the handle of
/// librsvg, which depends on both.
struct RsvgApi {
  void* (*handle_from_data)(const char* text, std::size_t size, GlibError**);
  int (*render)(void* handle, void* cairo, const Rectangle*, GlibError**);
  void (*object_unref)(void*);
  void* (*image_surface)(int format, int width, int height);
  void* (*pdf_surface)(Write, void* file, double width, double height);
  int (*write_png)(void* surface, Write, void* file);
  int (*surface_status)(void*);
  void (*surface_finish)(void*);
  void (*surface_destroy)(void*);
  void* (*cairo_create)(void* surface);
  void (*cairo_destroy)(void*);
  const char* (*status_text)(int);
};

template <class Function>
void find_in_rsvg(void* library, Function*& function, const char* symbol) {
  function = reinterpret_cast<Function*>(dlsym(library, symbol));
  if (function == nullptr)
    throw UsageError(
        fmt::format("{} has no function {}: install librsvg 2.52 or newer. SVG needs no library", svg_library, symbol));
}

RsvgApi load_rsvg() {
  void* const library = dlopen(svg_library, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw UsageError(
        fmt::format("cannot load librsvg, which PNG and PDF need: {}. Install the package librsvg2-2, or write "
                    "a .svg file",
                    why == nullptr ? "no reason given" : why));
  }
  RsvgApi api{};
  find_in_rsvg(library, api.handle_from_data, "rsvg_handle_new_from_data");
  find_in_rsvg(library, api.render, "rsvg_handle_render_document");
  find_in_rsvg(library, api.object_unref, "g_object_unref");
  find_in_rsvg(library, api.image_surface, "cairo_image_surface_create");
  find_in_rsvg(library, api.pdf_surface, "cairo_pdf_surface_create_for_stream");
  find_in_rsvg(library, api.write_png, "cairo_surface_write_to_png_stream");
  find_in_rsvg(library, api.surface_status, "cairo_surface_status");
  find_in_rsvg(library, api.surface_finish, "cairo_surface_finish");
  find_in_rsvg(library, api.surface_destroy, "cairo_surface_destroy");
  find_in_rsvg(library, api.cairo_create, "cairo_create");
  find_in_rsvg(library, api.cairo_destroy, "cairo_destroy");
  find_in_rsvg(library, api.status_text, "cairo_status_to_string");
  return api;
}

const RsvgApi& rsvg() {
  static const RsvgApi api = load_rsvg();
  return api;
}

int append(void* file, const unsigned char* bytes, unsigned size) {
  static_cast<std::string*>(file)->append(reinterpret_cast<const char*>(bytes), size);
  return 0;
}

[[noreturn]] void fail(const std::string& reason) { throw Error("cannot convert the SVG picture: " + reason); }

/// Draws the document on a Cairo surface. `size` is the area to fill, in the unit of the surface.
void render(const SvgDocument& document, void* surface, const Rectangle& size) {
  GlibError* error = nullptr;
  void* const handle = rsvg().handle_from_data(document.text.data(), document.text.size(), &error);
  if (handle == nullptr) fail(error != nullptr ? error->message : "librsvg cannot read it");
  void* const cairo = rsvg().cairo_create(surface);
  const bool is_drawn = rsvg().render(handle, cairo, &size, &error) != 0;
  rsvg().cairo_destroy(cairo);
  rsvg().object_unref(handle);
  if (!is_drawn) fail(error != nullptr ? error->message : "librsvg cannot draw it");
}

}  // namespace

std::string convert_svg(const SvgDocument& document, ImageFormat format) {
  const auto& api = rsvg();
  const bool is_pdf = format == ImageFormat::pdf;
  const double scale = is_pdf ? points_per_pixel : 1;
  const Rectangle size{.width = scale * static_cast<double>(document.width),
                       .height = scale * static_cast<double>(document.height)};
  std::string file;
  void* const surface =
      is_pdf ? api.pdf_surface(append, &file, size.width, size.height)
             : api.image_surface(argb32, static_cast<int>(document.width), static_cast<int>(document.height));
  const std::unique_ptr<void, void (*)(void*)> owner(surface, api.surface_destroy);
  render(document, surface, size);
  int status = is_pdf ? 0 : api.write_png(surface, append, &file);
  api.surface_finish(surface);
  if (status == 0) status = api.surface_status(surface);
  if (status != 0) fail(api.status_text(status));
  return file;
}

}  // namespace trainrt::view
