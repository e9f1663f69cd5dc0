// Shows the OpenAPI document. No other server is called: the validator is switched off.
window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  validatorUrl: "none",
});
