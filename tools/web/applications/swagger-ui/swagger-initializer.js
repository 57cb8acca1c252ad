// In the place of the file of the package, which shows an API of somebody else's server.
window.onload = function () {
  window.ui = SwaggerUIBundle({
    url: "/pets.json",
    dom_id: "#swagger-ui",
    deepLinking: true,
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    plugins: [SwaggerUIBundle.plugins.DownloadUrl],
    layout: "StandaloneLayout",
  });
};
