"""Which sockets `fractals explore` listens at: one, at the address that was asked for."""

import ipaddress
import os
import re
import socket
import struct
from pathlib import Path

import pytest
from support.explorer import process

pytestmark = pytest.mark.skipif(
    not Path("/proc/net/tcp").exists(), reason="no /proc/net/tcp: sockets are unseen"
)
LISTENING = "0A"


def family(pid):
    """Return a process and all that it has started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in children for each in family(int(child)))]


def listening(pid):
    """Return address and port of every listening socket of a process and its children."""
    inodes = set()
    for each in family(pid):
        for name in os.listdir(f"/proc/{each}/fd"):
            link = os.readlink(f"/proc/{each}/fd/{name}")
            inodes |= set(re.findall(r"^socket:\[(\d+)\]$", link))
    found = []
    for table in ("tcp", "tcp6"):
        path = Path(f"/proc/{pid}/net/{table}")
        for line in path.read_text().splitlines()[1:] if path.exists() else ():
            _, local, _, state, *rest = line.split()
            if state == LISTENING and rest[5] in inodes:
                address, _, port = local.partition(":")
                words = [int(address[k : k + 8], 16) for k in range(0, len(address), 8)]
                packed = struct.pack(f"={len(words)}I", *words)  # the table has words of the host
                found.append((str(ipaddress.ip_address(packed)), int(port, 16)))
    return found


def has_ipv6():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


ADDRESSES = {
    (): ["127.0.0.1"],
    ("--host", "127.0.0.1"): ["127.0.0.1"],
    ("--host", "localhost"): ["127.0.0.1", "::1"],
    ("--host", "::1"): ["::1"],
    ("--uds", "socket"): [],
}


@pytest.mark.parametrize("options", ADDRESSES, ids=" ".join)
def test_the_server_listens_where_it_was_asked_to(tmp_path, options, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wanted = ADDRESSES[options]
    if "::1" in wanted and not has_ipv6():
        pytest.skip("this machine has no IPv6")
    with process(tmp_path, "--threads", 1, *options) as (made, page, _):
        found = listening(made.pid)
        assert sorted(address for address, _ in found) == wanted
        ports = {port for _, port in found}
        assert ports <= {int(re.search(r":(\d+)/enter", page)[1])}
