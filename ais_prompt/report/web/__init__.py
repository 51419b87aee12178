"""Pages for a browser: files that hold everything and make no request, and the same from a server."""
