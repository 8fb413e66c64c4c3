"""The web page as the server sends it: its shell, static files and sessions."""
