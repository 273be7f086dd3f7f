"""The explorer: a server that draws views for a browser. `PROTOCOL.md` here describes the messages.

start.py       `fractals.explore`
server.py      starts the server, and serves its clients; gate.py checks every request
pages.py       what it answers over HTTP; previews.py: thumbnails; bookmarks.py: files of scenes
protocol.py    parses messages, and packs tiles
session.py     a client: its frames and colors; questions.py: answers about a frame
outbox.py      what waits to be sent to a client
scheduler.py   one thread draws for all clients, the newest views first
passes.py      a view in passes: coarse, tiles, exact tiles; picture.py: what is kept of it
views.py       exact moves; values.py: numbers for a shader; outside.py: scenes of strangers
jobs.py        searches and exports, in processes of their own: work.py
"""
