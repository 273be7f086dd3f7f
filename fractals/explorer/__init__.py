"""The explorer: a server that draws views for a browser. `PROTOCOL.md` here describes the messages.

start.py       `fractals.explore`
server.py      starts and ends the server; application.py serves its clients
door.py        accepts connections, strangers last; tls.py: certificates
gate.py        checks every request
pages.py       what it answers over HTTP; previews.py: thumbnails; bookmarks.py: files of scenes
protocol.py    parses messages, and packs tiles
session.py     a client: its colors, and work that it asked for; frames.py: where its frames lie
navigation.py  messages that change the view; opening.py: the scenes that a client opens
questions.py   answers about a frame
outbox.py      what waits to be sent to a client
scheduler.py   one thread draws for all clients, the newest views first
view_work.py   draws a view; passes.py: coarse, values, exact; tile_batches.py: runs tiles
view_drawings.py, view_messages.py: opens what a view needs, and sends it; picture.py: keeps it
views.py       exact moves; values.py: numbers for a shader; outside.py: scenes of strangers
jobs.py        searches and exports, in processes of their own: processes.py, work.py
               export_folder.py: where exported files lie
compilers.py   visitors' formulas are compiled in such processes, too: programs.py
"""
