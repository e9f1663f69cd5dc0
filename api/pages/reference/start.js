// Shows the document of the API. Nothing is asked of any other server: there is no validator.
window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  validatorUrl: "none",
});
