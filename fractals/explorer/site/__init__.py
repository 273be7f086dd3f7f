"""The explorer without a server: static files, whose page draws by WebAssembly.

`write.py` writes them, `tables.py` has what the page knows, `kernels.py` makes its programs, those
of deep views with `deep.py`. The page is that of the server; `client/site/` answers its messages in
place of the server.
"""
