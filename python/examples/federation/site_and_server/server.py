"""The server: holds the prepared model, and writes the sum of what the sites send."""

from quorate.flower import server_app

app = server_app()
