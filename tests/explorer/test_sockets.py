"""Which sockets `fractals explore` listens at: one, at the address that was asked for."""

import re
import socket

import pytest
from support.explorer import process
from support.sockets import listening, needs_proc

pytestmark = needs_proc


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


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(
            options, marks=[pytest.mark.slow] * (options[-1:] in [("127.0.0.1",), ("::1",)])
        )
        for options in ADDRESSES
    ],
    ids=" ".join,
)
def test_the_server_listens_where_it_was_asked_to(tmp_path, options, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wanted = ADDRESSES[options]
    if "::1" in wanted and not has_ipv6():
        pytest.skip("this machine has no IPv6")
    with process(tmp_path, "--threads", 1, *options) as (made, page, _):
        found = listening(made.pid)
        assert sorted(str(address) for address, _ in found) == wanted
        ports = {port for _, port in found}
        assert ports <= {int(re.search(r":(\d+)/enter", page)[1])}
