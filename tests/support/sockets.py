"""The TCP ports on which a process and those that it started listen, as Linux lists them."""

import ipaddress
import os
import sys

import pytest

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
LISTENS = "0A"


def tree(pid):
    """Return a process and all that it started, and those that these started."""
    children = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except OSError:  # it has just ended
            continue
        children.setdefault(parent, []).append(int(name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def listening(pid):
    """Return the addresses and ports on which the processes of a tree listen."""
    own = set()
    for each in tree(pid):
        try:
            links = [f"/proc/{each}/fd/{name}" for name in os.listdir(f"/proc/{each}/fd")]
        except OSError:
            continue
        for link in links:
            try:
                own.add(os.readlink(link))
            except OSError:
                continue
    found = []
    for table in ("tcp", "tcp6"):
        with open(f"/proc/net/{table}") as file:
            rows = [line.split() for line in file.readlines()[1:]]
        for row in rows:
            if row[3] == LISTENS and f"socket:[{row[9]}]" in own:
                address, port = row[1].split(":")
                found.append((_address(address), int(port, 16)))
    return found


def _address(text):
    """Return the address of digits that stand in words of 4 bytes, the last byte first."""
    words = [bytes.fromhex(text[k : k + 8]) for k in range(0, len(text), 8)]
    if sys.byteorder == "little":
        words = [word[::-1] for word in words]
    return ipaddress.ip_address(b"".join(words))
