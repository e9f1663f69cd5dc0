"""The bundled engine: its process, socket and files."""
