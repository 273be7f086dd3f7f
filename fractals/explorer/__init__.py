"""The explorer: a server that draws views for a browser. `PROTOCOL.md` here describes the messages.

server.py      `fractals.explore`: starts and ends the server; options.py: its options;
               keywords.py: their types
application.py serves the page and the clients
door.py        accepts connections, a bounded number of strangers'
gate.py        checks every request; addresses that open once, cookies that outlive the server
classroom.py   a class: its leader, guests, their names and pictures; entrance.py: the page at
               which guests come in
pages.py       what it answers over HTTP, and thumbnails
protocol.py    parses and checks the messages of clients; answers.py: those of the server
packing.py     packs tiles as bytes
session.py     a client: its colors, what waits to be sent to it, what it asked for
navigation.py  messages that change the view
questions.py   answers about a frame
scheduler.py   one thread draws for all clients, the newest views first
shown.py       what all views have in common; draws those of other families, ever finer;
               whole pictures while a view moves
view.py        draws a view of samples: coarse, values, exact
frames.py      where frames lie, and exact moves
outside.py     scenes of strangers
jobs.py        searches and exports, in processes of their own: work.py; the workers
               of a cluster that share this work, and compilers of visitors' formulas
filming.py     films, in such processes, too
posters.py     the paper of a picture that is exported: margins, a line, a signature
bookmarks.py   scenes that visitors keep, as files
"""
