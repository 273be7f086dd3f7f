"""The explorer: a server that draws views for a browser. `PROTOCOL.md` here describes the messages.

gate.py        checks every request: host, origin, cookie
server.py      starts the server; pages.py, uploads.py: what it answers over HTTP
protocol.py    parses messages, and packs tiles
session.py     a client: its frames, its messages, what waits to be sent
scheduler.py   one thread draws for all clients; newest view first
passes.py      a view in passes: coarse, tiles, exact tiles
views.py       exact moves; values.py: numbers for a shader; outside.py: scenes of strangers
jobs.py        searches and exports, in processes of their own: work.py
"""
