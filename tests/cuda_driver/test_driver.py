"""The stand-in as a driver: orders, copies, faults, bounds of memory, cards, threads of a block."""

import ctypes
import json
import struct
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import pytest
import run as standin
from conftest import CODES, CudaError

CARDS = tomllib.loads(Path(__file__).with_name("cards.toml").read_text("utf-8"))
ORDERS = ["eager", "late", "random", "synchronous"]

# Thread i of block b adds 1 to element b * ntid + i of an array of n numbers of 32 bits.
ADD_ONE = """
.visible .entry k(.param .u64 array, .param .u64 n) {
    .reg .b32 %t, %b, %m, %i, %v; .reg .b64 %at, %n, %wide; .reg .pred %p;
    ld.param.u64 %at, [array]; ld.param.u64 %n, [n];
    mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %m, %ntid.x;
    mad.lo.s32 %i, %b, %m, %t;
    cvt.u64.u32 %wide, %i; setp.ge.u64 %p, %wide, %n; @%p bra end;
    shl.b64 %wide, %wide, 2; add.u64 %at, %at, %wide;
    .loc 1 17 3
    ld.global.u32 %v, [%at];
    add.u32 %v, %v, 1;
    st.global.u32 [%at], %v;
end: ret;
}
"""


def numbers(data):
    return list(struct.unpack(f"{len(data) // 4}I", bytes(data)))


def packed(values):
    return struct.pack(f"{len(values)}I", *values)


# --- Orders: what is asynchronous happens late, and what waits waits


@pytest.mark.parametrize("order", ORDERS)
def test_a_program_that_waits_gets_the_same_in_every_order(load, order):
    driver = load(order=order, seed=5)
    driver.start()
    kernel, at = driver.kernel(ADD_ONE), driver.memory(4096)
    first, second, event = driver.stream(), driver.stream(), driver.event()
    host = driver.pinned(4096)
    host[:] = packed(range(1024))
    driver.copy("cuMemcpyHtoDAsync", at, host, 4096, first)
    driver.launch(kernel, at, 1024, grid=(8, 1, 1), block=(128, 1, 1), stream=first)
    driver.on("cuEventRecord", event, first)
    driver.wait(second, event)
    driver.launch(kernel, at, 1000, grid=(8, 1, 1), block=(128, 1, 1), stream=second)
    driver.copy("cuMemcpyDtoHAsync", host, at, 4096, second)
    driver.on("cuStreamSynchronize", second)
    assert numbers(host) == [i + 1 + (i < 1000) for i in range(1024)]


@pytest.mark.parametrize("order", ["late", "eager"])
def test_a_copy_that_nothing_waits_for_has_not_happened_when_late(load, order):
    """The source is changed after the call, and another stream reads the target without waiting."""
    driver = load(order=order)
    driver.start()
    at, host, other = driver.memory(64), driver.pinned(64), driver.pinned(64)
    first, second = driver.stream(), driver.stream()
    host[:] = b"a" * 64
    driver.copy("cuMemcpyHtoDAsync", at, host, 64, first)
    if order == "eager":
        driver.on("cuStreamSynchronize", first)
    driver.copy("cuMemcpyDtoHAsync", other, at, 64, second)
    driver.on("cuStreamSynchronize", second)
    assert bytes(other) == (b"a" if order == "eager" else b"\xa5") * 64  # 0xA5 fills new memory
    host[:] = b"b" * 64
    driver.on("cuStreamSynchronize", first)
    assert driver.read(at, 64) == (b"a" if order == "eager" else b"b") * 64


def test_pageable_memory_may_be_used_at_once(load):
    driver = load(order="late")
    driver.start()
    at, stream = driver.memory(64), driver.stream()
    given, made = ctypes.create_string_buffer(b"a" * 64, 64), ctypes.create_string_buffer(64)
    driver.copy("cuMemcpyHtoDAsync", at, given, 64, stream)
    given.raw = b"b" * 64
    driver.copy("cuMemcpyDtoHAsync", made, at, 64, stream)
    assert made.raw == b"a" * 64


def test_page_locked_by_the_program_is_asynchronous_too(load):
    driver = load(order="late")
    driver.start()
    at, stream, given = driver.memory(64), driver.stream(), ctypes.create_string_buffer(64)
    driver.call("cuMemHostRegister", given, ctypes.c_size_t(64), 0)
    driver.copy("cuMemcpyHtoDAsync", at, given, 64, stream)
    given.raw = b"b" * 64
    driver.on("cuStreamSynchronize", stream)
    assert driver.read(at, 64) == b"b" * 64
    driver.call("cuMemHostUnregister", given)
    with pytest.raises(CudaError, match="713"):
        driver.call("cuMemHostUnregister", given)


def test_the_default_stream_waits_for_the_blocking_ones_only(load):
    driver = load(order="late")
    driver.start()
    blocking, free = driver.stream(blocking=True), driver.stream()
    places = [driver.memory(16) for _ in range(2)]
    hosts = [driver.pinned(16) for _ in range(2)]
    for place, host, stream in zip(places, hosts, (blocking, free), strict=True):
        host[:] = b"x" * 16
        driver.copy("cuMemcpyHtoDAsync", place, host, 16, stream)
    assert driver.read(places[0], 16) == b"x" * 16
    assert driver.read(places[1], 16) == b"\xa5" * 16
    driver.call("cuCtxSynchronize")
    assert driver.read(places[1], 16) == b"x" * 16


def test_who_asks_again_and_again_gets_there(load):
    driver = load(order="late")
    driver.start()
    at, host, stream, event = driver.memory(16), driver.pinned(16), driver.stream(), driver.event()
    for _ in range(4):
        driver.copy("cuMemcpyHtoDAsync", at, host, 16, stream)
    driver.on("cuEventRecord", event, stream)
    codes = [driver.library.cuEventQuery(ctypes.c_uint64(event)) for _ in range(100)]
    ready = codes.index(0)
    assert set(codes[:ready]) == {600}  # not ready
    assert ready >= 4
    assert set(codes[ready:]) == {0}
    driver.on("cuStreamQuery", stream)


def test_callbacks_are_called_though_nothing_waits(load):
    driver = load(order="late")
    driver.start()
    called, stream = threading.Event(), driver.stream()
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: called.set())
    driver.call("cuLaunchHostFunc", ctypes.c_uint64(stream), function, None)
    assert called.wait(30)


def test_random_orders_depend_on_the_seed_alone(load):
    """Blocks that write their number to one place: the last one wins."""
    ptx = """.visible .entry k(.param .u64 to) { .reg .b64 %a; .reg .b32 %b;
        ld.param.u64 %a, [to]; mov.u32 %b, %ctaid.x; st.global.u32 [%a], %b; ret; }"""

    def last(**settings):
        driver = load(**settings)
        driver.start()
        at = driver.memory(4)
        driver.launch(driver.kernel(ptx), at, grid=(100, 1, 1))
        return numbers(driver.read(at, 4))[0]

    assert last() == 99
    assert last(order="late") == 0
    found = [last(order="random", seed=seed) for seed in (1, 2, 3, 4, 1, 2, 3, 4)]
    assert found[:4] == found[4:]
    assert len(set(found)) > 1


def test_a_stream_that_is_destroyed_ends_its_work(load):
    driver = load(order="late")
    driver.start()
    at, stream, host = driver.memory(16), driver.stream(), driver.pinned(16)
    host[:] = b"x" * 16
    event = driver.event()
    driver.copy("cuMemcpyHtoDAsync", at, host, 16, stream)
    driver.on("cuEventRecord", event, stream)
    driver.on("cuStreamDestroy", stream)
    driver.on("cuEventSynchronize", event)
    assert driver.read(at, 16) == b"x" * 16
    with pytest.raises(CudaError, match="400"):
        driver.on("cuStreamSynchronize", stream)


# --- Memory


def test_the_bounds_of_an_allocation_are_exact(driver, capfd):
    """The first byte behind an array is an error that names kernel, thread and line."""
    kernel, at = driver.kernel(ADD_ONE), driver.memory(40)
    driver.launch(kernel, at, 10, block=(16, 1, 1))
    driver.call("cuCtxSynchronize")
    driver.launch(kernel, at, 11, block=(16, 1, 1))
    with pytest.raises(CudaError, match="700"):
        driver.call("cuCtxSynchronize")
    said = capfd.readouterr().err
    assert "kernel k, block (0, 0, 0), thread (10, 0, 0): 4 bytes at 0x" in said
    assert "40 bytes from the begin of one of 40" in said
    assert "ld.global.u32 %v, [%at];" in said
    assert ":17" in said  # the line of the source, of .loc
    with pytest.raises(CudaError, match="700"):  # the context is lost
        driver.memory(16)


@pytest.mark.parametrize("what", ["freed", "pageable", "of another card", "null"])
def test_memory_that_is_not_the_card_s_fails(load, what):
    driver = load(cards="h100,t4")
    driver.start(1)
    foreign = driver.memory(64)
    driver.start(0)
    pageable = ctypes.create_string_buffer(64)
    places = {"freed": driver.memory(64), "pageable": ctypes.addressof(pageable)}
    places |= {"of another card": foreign, "null": 0}
    if what == "freed":
        driver.call("cuMemFree", ctypes.c_uint64(places[what]))
    driver.launch(driver.kernel(ADD_ONE), places[what], 1)
    with pytest.raises(CudaError, match="700"):
        driver.call("cuCtxSynchronize")


def test_page_locked_memory_is_the_kernels_too(driver):
    host = driver.pinned(16)
    host[:] = packed([1, 2, 3, 4])
    driver.launch(driver.kernel(ADD_ONE), ctypes.addressof(host), 4, block=(4, 1, 1))
    driver.call("cuCtxSynchronize")
    assert numbers(host) == [2, 3, 4, 5]


def test_an_address_that_is_not_aligned_fails(driver, capfd):
    driver.launch(driver.kernel(ADD_ONE), driver.memory(64) + 2, 1)
    with pytest.raises(CudaError, match="716"):
        driver.call("cuCtxSynchronize")
    assert "is no multiple of 4" in capfd.readouterr().err


@pytest.mark.parametrize("space", ["shared", "local"])
def test_the_bounds_of_other_memories(driver, space):
    ptx = f""".visible .entry k(.param .u64 at) {{
        .{space} .align 8 .b8 here[64]; .reg .b64 %a, %n; .reg .b32 %v;
        mov.u64 %a, here; ld.param.u64 %n, [at]; add.u64 %a, %a, %n;
        mov.u32 %v, 7; st.{space}.u32 [%a], %v; ret; }}"""
    kernel = driver.kernel(ptx)
    driver.launch(kernel, 60)
    driver.call("cuCtxSynchronize")
    driver.launch(kernel, 64 if space == "shared" else 1 << 20)
    with pytest.raises(CudaError, match="700"):
        driver.call("cuCtxSynchronize")


def test_copies_have_bounds(driver):
    at = driver.memory(16)
    for name, to, source in (
        ("cuMemcpyHtoD", at, ctypes.create_string_buffer(17)),
        ("cuMemcpyDtoH", ctypes.create_string_buffer(17), at),
        ("cuMemcpyDtoD", at, driver.memory(17)),
    ):
        with pytest.raises(CudaError, match="1"):
            driver.copy(name, to, source, 17)
    with pytest.raises(CudaError):
        driver.call("cuMemsetD32", ctypes.c_uint64(at), 7, ctypes.c_size_t(5))
    driver.call("cuMemsetD32", ctypes.c_uint64(at), 7, ctypes.c_size_t(4))
    assert numbers(driver.read(at, 16)) == [7] * 4


def test_memory_of_a_given_size(load):
    driver = load(memory="1M", cards="t4")
    driver.start()
    total = ctypes.c_size_t()
    assert driver.ask("cuMemGetInfo", ctypes.byref(total)) == total.value == 1 << 20
    at = driver.memory(1 << 20)
    with pytest.raises(CudaError, match="2"):
        driver.memory(1)
    assert driver.ask("cuMemGetInfo", ctypes.byref(total)) == 0
    driver.call("cuMemFree", ctypes.c_uint64(at))
    with pytest.raises(CudaError, match="1"):  # twice
        driver.call("cuMemFree", ctypes.c_uint64(at))
    assert driver.memory(1 << 20) != at  # no address is used twice


def test_calls_need_a_context(load):
    driver = load()
    with pytest.raises(CudaError, match="3"):  # not initialised
        driver.ask("cuDeviceGetCount", answer=ctypes.c_int)
    driver.call("cuInit", 0)
    with pytest.raises(CudaError, match="201"):
        driver.memory(16)
    driver.start()
    at, codes = driver.memory(16), []

    def other_thread():
        try:
            driver.call("cuMemFree", ctypes.c_uint64(at))
        except CudaError as error:
            codes.append(error.args[1])

    thread = threading.Thread(target=other_thread)
    thread.start()
    thread.join()
    assert codes == [201]


# --- Faults


def test_a_call_fails_by_name_number_and_code(load):
    driver = load(fail="cuMemAlloc:2:2,cuMemAlloc:4-5:999,cuStreamCreate:1-:304")
    driver.start()
    codes = []
    for _ in range(6):
        try:
            driver.memory(16)
            codes.append(0)
        except CudaError as error:
            codes.append(error.args[1])
    assert codes == [0, 2, 0, 999, 999, 0]
    for _ in range(3):
        with pytest.raises(CudaError, match="304"):
            driver.stream()


@pytest.mark.parametrize("fault", ["kernel:2:719", "copy:2:700", "cuLaunchKernel:2:719"])
def test_errors_of_kernels_stay(load, fault):
    driver = load(fail=fault)
    driver.start()
    kernel, at = driver.kernel(ADD_ONE), driver.memory(16)
    driver.write(at, packed([0, 0, 0, 0]))
    driver.launch(kernel, at, 4, block=(4, 1, 1))
    code = fault.rpartition(":")[2]

    def launch_and_read():
        driver.launch(kernel, at, 4, block=(4, 1, 1))
        driver.call("cuCtxSynchronize")
        driver.read(at, 16)

    with pytest.raises(CudaError, match=code):
        launch_and_read()
    with pytest.raises(CudaError, match=code):
        driver.stream()
    driver.call("cuDevicePrimaryCtxReset", 0)
    assert driver.memory(16)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"order": "soon"}, "STANDIN_ORDER is 'soon', not eager, late, random or synchronous"),
        (
            {"cards": "h100,gt9"},
            "STANDIN_CARDS names 'gt9'; known: t4, rtx3060, rtx4090, h100, h100mig",
        ),
        ({"cards": ",".join(["t4"] * 9)}, "STANDIN_CARDS has 9 cards; at most 8"),
        ({"memory": "much"}, "STANDIN_MEMORY is 'much'"),
        ({"fail": "cuMemAlloc:2"}, "STANDIN_FAIL is 'cuMemAlloc:2', not NAME:CALLS:CODE"),
        ({"fail": "cuMemAllok:2:2"}, "STANDIN_FAIL names cuMemAllok"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_wrong_setting_ends_the_process(built, settings, said):
    program = f"import ctypes; ctypes.CDLL('{built}/libcuda.so.1').cuInit(0)"
    command = [sys.executable, "-c", program]
    ended = subprocess.run(
        command, env=standin.environment(**settings), capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 2
    assert said in ended.stderr


# --- Cards


@pytest.mark.parametrize("key", [key for key in CARDS if key != "every"])
def test_a_card_says_what_its_table_has(load, key):
    driver = load(cards=f"h100,{key}")
    driver.start(1)
    name = ctypes.create_string_buffer(100)
    driver.call("cuDeviceGetName", name, 100, 1)
    assert name.value.decode() == CARDS[key]["name"]
    assert driver.ask("cuDeviceTotalMem", 1) == CARDS[key]["memory"]
    for code, attribute in ((16, "multiprocessor_count"), (75, "compute_capability_major")):
        assert (
            driver.ask("cuDeviceGetAttribute", code, 1, answer=ctypes.c_int)
            == CARDS[key][attribute]
        )
    assert driver.ask("cuDeviceGetAttribute", 10, 1, answer=ctypes.c_int) == 32  # of every card


def test_cards_agree_with_the_table_of_the_instruments():
    """`fractals gpu predict` has their cores, 64 or 128 in each multiprocessor, and clocks."""
    from fractals.lessons.machine import CARDS as known

    for key, card in CARDS.items():
        if key in known:
            cores = known[key].cores / card["multiprocessor_count"]
            assert cores == (64 if key == "t4" else 128), key
            assert known[key].clock == pytest.approx(card["clock_rate"] / 1e6, rel=0.02), key


def test_cards_have_memories_of_their_own(load):
    assert load(cards="none").library.cuInit(0) == 100
    driver = load(cards=",".join(["h100"] * 8))
    kernel = None
    places = []
    for card in range(8):
        driver.start(card)
        assert driver.ask("cuCtxGetDevice", answer=ctypes.c_int) == card
        kernel = kernel or driver.kernel(ADD_ONE)
        places.append(driver.memory(16))
        driver.write(places[-1], packed([card] * 4))
        driver.launch(kernel, places[-1], 4, block=(4, 1, 1))
    for card in range(8):
        driver.start(card)
        assert numbers(driver.read(places[card], 16)) == [card + 1] * 4
    with pytest.raises(CudaError, match="101"):
        driver.start(8)


def test_variables_of_a_module_are_each_card_s_own(load):
    driver = load(cards="h100,t4")
    ptx = """.global .align 4 .u32 count[2] = {5, 0x10};
        .visible .entry k(.param .u64 to) { .reg .b64 %a, %c; .reg .b32 %v;
        mov.u64 %c, count; atom.global.add.u32 %v, [%c+4], 1;
        ld.param.u64 %a, [to]; st.global.u32 [%a], %v; ret; }"""
    kernel = None
    for card, rounds in ((0, 3), (1, 1)):
        driver.start(card)
        kernel = kernel or driver.kernel(ptx)
        at = driver.memory(4)
        for turn in range(rounds):
            driver.launch(kernel, at)
            assert numbers(driver.read(at, 4)) == [16 + turn]


# --- Kernels whose threads work together


def test_shared_memory_barriers_and_atomics(driver):
    """Each block turns 64 numbers round in shared memory, and adds them up."""
    ptx = """.extern .shared .align 4 .b8 room[];
    .visible .entry k(.param .u64 array, .param .u64 sum) {
        .reg .b32 %t, %b, %i, %v, %s; .reg .b64 %at, %a, %w;
        mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mad.lo.s32 %i, %b, 64, %t;
        ld.param.u64 %at, [array]; mul.wide.u32 %w, %i, 4; add.u64 %at, %at, %w;
        ld.global.u32 %v, [%at];
        mov.u32 %s, room; shl.b32 %i, %t, 2; add.u32 %s, %s, %i; st.shared.u32 [%s], %v;
        bar.sync 0;
        sub.u32 %i, 63, %t; shl.b32 %i, %i, 2; mov.u32 %s, room; add.u32 %s, %s, %i;
        ld.shared.u32 %v, [%s]; st.global.u32 [%at], %v;
        ld.param.u64 %a, [sum]; red.global.add.u32 [%a], %v; atom.global.max.u32 %s, [%a+4], %v;
        ret; }"""
    values = [(7 * i) % 1000 for i in range(256)]
    array, total = driver.memory(1024), driver.memory(8)
    driver.write(array, packed(values))
    driver.write(total, packed([0, 0]))
    driver.launch(driver.kernel(ptx), array, total, grid=(4, 1, 1), block=(64, 1, 1), shared=256)
    turned = [values[64 * b + 63 - t] for b in range(4) for t in range(64)]
    assert numbers(driver.read(array, 1024)) == turned
    assert numbers(driver.read(total, 8)) == [sum(values), max(values)]


@pytest.mark.parametrize("block", [16, 32, 48])
@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        (
            "shfl.sync.down.b32 %v|%p, %v, 1, 31, %m;",
            lambda i, v: v[i + 1] if i + 1 < len(v) else None,
        ),
        ("shfl.sync.up.b32 %v|%p, %v, 2, 0, %m;", lambda i, v: v[i - 2] if i >= 2 else v[i]),
        ("shfl.sync.bfly.b32 %v|%p, %v, 5, 31, %m;", lambda i, v: v[i ^ 5]),
        ("shfl.sync.idx.b32 %v|%p, %v, 3, 31, %m;", lambda i, v: v[3]),
        ("shfl.sync.idx.b32 %v|%p, %v, 1, 7199, %m;", lambda i, v: v[i & 28 | 1]),  # of each 4
        (
            "setp.gt.u32 %p, %v, 100; vote.sync.ballot.b32 %v, %p, %m;",
            lambda i, v: sum((x > 100) << k for k, x in enumerate(v)),
        ),
        (
            "setp.gt.u32 %p, %v, 990; vote.sync.any.pred %p, %p, %m; selp.u32 %v, 1, 0, %p;",
            lambda i, v: max(v) > 990,
        ),
        (
            "setp.gt.u32 %p, %v, 3; vote.sync.all.pred %p, %p, %m; selp.u32 %v, 1, 0, %p;",
            lambda i, v: min(v) > 3,
        ),
    ],
    ids=lambda value: (
        value.split(";")[0 if "setp" not in value else 1].split()[0]
        if isinstance(value, str)
        else ""
    ),
)
def test_lanes_of_a_warp(driver, instruction, expected, block):
    ptx = f""".visible .entry k(.param .u64 array) {{
        .reg .b32 %t, %v, %m, %n; .reg .b64 %at, %w; .reg .pred %p;
        mov.u32 %t, %tid.x; ld.param.u64 %at, [array]; mul.wide.u32 %w, %t, 4; add.u64 %at, %at, %w;
        ld.global.u32 %v, [%at]; mov.u32 %m, {(1 << min(block, 32)) - 1 if block != 48 else -1};
        setp.ge.u32 %p, %t, 32; @%p mov.u32 %m, {0xFFFF if block == 48 else 0};
        {instruction}
        st.global.u32 [%at], %v; ret; }}"""
    values = [(37 * i) % 1000 // (1 + i % 3) for i in range(block)]
    at = driver.memory(4 * block)
    driver.write(at, packed(values))
    driver.launch(driver.kernel(ptx), at, block=(block, 1, 1))
    found = numbers(driver.read(at, 4 * block))
    for i in range(block):
        warp = values[i // 32 * 32 : i // 32 * 32 + 32]
        try:
            wanted = expected(i % 32, warp)
        except IndexError:
            continue  # a lane that there is not
        if wanted is not None:
            assert found[i] == wanted, i


def test_generic_addresses(driver):
    """Shared, local and global memory by one instruction; fences and pauses change nothing."""
    ptx = """.visible .entry k(.param .u64 to) {
        .shared .align 8 .b8 room[64]; .local .align 8 .b8 own[64];
        .reg .b64 %s, %l, %g, %x; .reg .b32 %v; .reg .pred %p;
        ld.param.u64 %g, [to]; cvta.to.global.u64 %g, %g;
        mov.u64 %s, room; cvta.shared.u64 %s, %s; mov.u64 %l, own; cvta.local.u64 %l, %l;
        st.u32 [%s+8], 11; st.volatile.u32 [%l+8], 22;
        membar.gl; fence.acq_rel.gpu; nanosleep.u32 20; barrier.sync 0; bar.warp.sync 1;
        ld.shared.u32 %v, [room+8]; st.global.u32 [%g], %v;
        ld.local.u32 %v, [own+8]; st.u32 [%g+4], %v; ldu.global.u32 %v, [%g+4];
        cvta.to.shared.u64 %x, %s; cvt.u32.u64 %v, %x; st.global.u32 [%g+8], %v;
        mov.b64 {%v, _}, %s; mov.b64 %x, {7, 9}; st.global.u64 [%g+16], %x;
        setp.eq.u32 %p, %v, 0; vote.sync.uni.pred %p, %p, 1;
        selp.u32 %v, 1, 0, %p; st.global.u32 [%g+12], %v;
        exit; }"""
    at = driver.memory(24)
    driver.launch(driver.kernel(ptx), at)
    assert numbers(driver.read(at, 24)) == [11, 22, 0, 1, 7, 9]


def test_a_trap_ends_the_kernel(driver, capfd):
    driver.launch(driver.kernel(".visible .entry k() { trap; ret; }"))
    with pytest.raises(CudaError, match="719"):
        driver.call("cuCtxSynchronize")
    assert "trap\n  line 4 of" in capfd.readouterr().err


def test_threads_that_wait_for_ever_are_named(driver, capfd):
    """The lower half waits for the whole warp, which never comes."""
    ptx = """.visible .entry k() { .reg .b32 %t, %v; .reg .pred %p;
        mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 16; @%p bra low;
        bar.sync 0; bra.uni end;
        low: shfl.sync.idx.b32 %v, %t, 0, 31, -1;
        end: ret; }"""
    driver.launch(driver.kernel(ptx), block=(32, 1, 1))
    with pytest.raises(CudaError, match="719"):
        driver.call("cuCtxSynchronize")
    assert "threads wait for others that never come" in capfd.readouterr().err


def test_functions_carries_logic_and_tables(driver):
    """A call, sums with carry, lop3, and a branch over a table."""
    ptx = """.func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %x;
        ld.param.u32 %x, [x]; add.u32 %x, %x, %x; st.param.b32 [r], %x; ret; }
    .visible .entry k(.param .u64 to) { .reg .b32 %a, %b, %c, %d; .reg .b64 %at;
        ld.param.u64 %at, [to];
        { .param .b32 p0; .param .b32 r0; st.param.b32 [p0], 21;
          call.uni (r0), twice, (p0); ld.param.b32 %a, [r0]; }
        st.global.u32 [%at], %a;
        mov.u32 %a, -1; add.cc.u32 %b, %a, 2; addc.u32 %c, 5, 0;
        st.global.v2.u32 [%at+8], {%b, %c};
        mad.lo.cc.u32 %b, %a, %a, 7; madc.hi.u32 %c, %a, %a, 0;
        st.global.v2.u32 [%at+16], {%b, %c};
        sub.cc.u32 %b, 3, 5; subc.u32 %c, 9, 0; st.global.v2.u32 [%at+24], {%b, %c};
        lop3.b32 %d, 0xF0F0, 0xCCCC, 0xAAAA, 0x96; st.global.u32 [%at+4], %d;
        mov.u32 %a, 1;
        names: .branchtargets zero, one;
        brx.idx %a, names;
        zero: st.global.u32 [%at+32], 100; ret;
        one: st.global.u32 [%at+32], 101; ret; }"""
    at = driver.memory(36)
    driver.launch(driver.kernel(ptx), at)
    product = (2**32 - 1) ** 2 + 7
    wanted = [42, 0xF0F0 ^ 0xCCCC ^ 0xAAAA, 1, 6, product % 2**32, product >> 32, 2**32 - 2, 8, 101]
    assert numbers(driver.read(at, 36)) == wanted


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64", "f32", "f64"])
def test_atomics_of_each_type(driver, kind):
    """Each operation gives the old value back, and leaves the new one."""
    size, code = int(kind[1:]) // 8, CODES[kind]
    operations = {"add": (5, 3, 8), "min": (5, 3, 3), "max": (5, 3, 5), "exch": (5, 3, 3)}
    operations |= {"and": (12, 10, 8), "or": (12, 10, 14), "xor": (12, 10, 6), "cas": (5, 5, 9)}
    operations |= {"inc": (5, 5, 0), "dec": (0, 7, 7)}
    types = dict.fromkeys(("exch", "and", "or", "xor", "cas"), f"b{kind[1:]}")
    known = {"f": ["add"], "s": ["min", "max"], "u": ["add", "min", "max", *types]}[kind[0]]
    if kind == "u32":
        known += ["inc", "dec"]
    if kind == "s32":
        known.append("add")
    lines, wanted, given = [], [], []
    for at, name in enumerate(known):
        old, value, new = operations[name]
        bits = struct.unpack("Q", struct.pack(code, value).ljust(8, b"\0"))[0]
        more = ", 9" if name == "cas" else ""
        lines.append(f"mov.b64 %w, {bits}; cvt.u32.u64 %n, %w;")
        register = "%w" if size == 8 else "%n"
        atom = f"atom.global.{name}.{types.get(name, kind)} {register}"
        lines.append(f"{atom}, [%at+{at * 16}], {register}{more};")
        lines.append(f"st.global.b{8 * size} [%at+{at * 16 + 8}], {register};")
        given += [old, 0]
        wanted += [new, old]
    ptx = f""".visible .entry k(.param .u64 to) {{ .reg .b64 %at, %w; .reg .b32 %n;
        ld.param.u64 %at, [to]; {" ".join(lines)} ret; }}"""
    at = driver.memory(8 * len(given))
    driver.write(at, b"".join(struct.pack(code, value).ljust(8, b"\0") for value in given))
    driver.launch(driver.kernel(ptx), at)
    out = driver.read(at, 8 * len(given))
    assert [struct.unpack_from(code, out, 8 * k)[0] for k in range(len(wanted))] == wanted


def test_launches_that_no_card_runs(driver):
    kernel = driver.kernel(ADD_ONE)
    for settings in ({"block": (1025, 1, 1)}, {"block": (1, 1, 65)}, {"grid": (0, 1, 1)}):
        with pytest.raises(CudaError, match="1"):
            driver.launch(kernel, 0, 0, **settings)
    with pytest.raises(CudaError, match="1"):
        driver.launch(kernel, 0, 0, grid=(1, 65536, 1))
    with pytest.raises(CudaError, match="1"):
        driver.launch(kernel, 0, 0, shared=50000)


# --- Around it


def test_an_unknown_instruction_is_named(driver, capfd):
    with pytest.raises(CudaError, match="218"):
        driver.kernel(".visible .entry k() {\n.reg .b32 %a;\nfrobnicate.u32 %a, %a;\nret; }")
    assert "line 6: unknown instruction `frobnicate.u32 %a, %a`" in capfd.readouterr().err


def test_functions_that_are_missing_are_not_found(driver):
    found, status = ctypes.c_void_p(), ctypes.c_int()
    for name, there in ((b"cuMemAlloc", True), (b"cuGraphLaunch", False)):
        code = driver.library.cuGetProcAddress_v2(
            name, ctypes.byref(found), 13000, ctypes.c_uint64(0), ctypes.byref(status)
        )
        assert (code, bool(found.value)) == ((0, True) if there else (500, False))


def test_the_profile_counts_calls_and_what_is_left(built, tmp_path):
    program = f"""import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
from conftest import Driver
driver = Driver({str(built / "libcuda.so.1")!r}); driver.start()
at = driver.memory(48); driver.write(at, b'x' * 32); driver.read(at, 16)
driver.call("cuMemFree", __import__("ctypes").c_uint64(driver.memory(10)))"""
    environment = standin.environment(profile=tmp_path / "profile", cards="t4,t4")
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)
    profile = json.loads((tmp_path / "profile").read_text())
    assert profile["calls"]["cuMemAlloc"] == 2
    assert profile["calls"]["copy"] == 2
    assert profile["bytes"]["cuMemcpyHtoD"] == 32
    assert profile["unfreed"] == [1, 0]


COUNTING = """.visible .entry k() {
.reg .b32 %r<2>; .reg .f32 %f<2>; .reg .pred %p<2>;
mov.u32 %r1, %tid.x;
$L:
neg.f32 %f1, %f1;
sub.s32 %r1, %r1, 1;
setp.ge.s32 %p1, %r1, 0;
@%p1 bra $L;
ret; }"""
ROUNDS = """.visible .entry k() {
.reg .b32 %r<4>; .reg .pred %p<2>;
mov.u32 %r1, %tid.x;
and.b32 %r1, %r1, 1;
mov.u32 %r3, 2;
$Round:
xor.b32 %r1, %r1, 1;
mul.lo.u32 %r2, %r1, 9;
$Step:
sub.s32 %r2, %r2, 1;
setp.ge.s32 %p1, %r2, 0;
@%p1 bra $Step;
sub.s32 %r3, %r3, 1;
setp.gt.s32 %p1, %r3, 0;
@%p1 bra $Round;
ret; }"""


@pytest.fixture
def counted(built, tmp_path):
    """Return a function that runs a kernel, and returns what is counted."""

    def call(source, block, count):
        program = f"""import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
from conftest import Driver
driver = Driver({str(built / "libcuda.so.1")!r}); driver.start()
driver.launch(driver.kernel({source!r}), block={block})
driver.call("cuCtxSynchronize")"""
        settings = {"profile": tmp_path / "profile", "cache": tmp_path / "modules", "count": count}
        environment = standin.environment(**settings)
        subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)
        return json.loads((tmp_path / "profile").read_text())["calls"]

    return call


@pytest.mark.parametrize("barrier", ["", "bar.sync 0;\nret;"], ids=["alone", "together"])
def test_instructions_are_counted_of_threads_and_of_warps(counted, barrier):
    """Of thread k: two, and k + 1 times three, because machine code has no negation."""
    calls = counted(COUNTING.replace("ret;", barrier or "ret;"), (20, 2, 1), 1)
    fixed = 3 if barrier else 2
    assert calls["kernel k instructions"] == 40 * fixed + 2 * 3 * sum(range(1, 21))
    assert calls["kernel k warp instructions"] == 2 * (fixed + 3 * 20)


def test_lanes_in_lockstep_wait_where_their_ways_meet(counted):
    """In each of two rounds half of the lanes take ten steps, the others one."""
    calls = counted(ROUNDS, (33, 1, 1), "lockstep")
    own = 3 + 2 * (2 + 3) + 1
    assert calls["kernel k instructions"] == 33 * (own + 3 * (10 + 1))
    assert calls["kernel k warp instructions"] == 2 * (own + 3 * (10 + 1))
    assert calls["kernel k lockstep instructions"] == own + 3 * 2 * 10 + own + 3 * (10 + 1)


def test_functions_are_in_the_order_of_the_header():
    if standin.missing():
        pytest.skip(standin.missing())
    import re

    header = (standin.found(f"{name}/cuda.h" for name in standin.HEADERS)).read_text("utf-8")
    order = {
        name: at
        for at, name in enumerate(re.findall(r"^CUresult CUDAAPI (\w+)\(", header, re.MULTILINE))
    }
    source = Path(__file__).with_name("driver.cpp").read_text("utf-8")
    ours = [
        name for name in re.findall(r"^CUresult (cu\w+)\(", source, re.MULTILINE) if name in order
    ]
    assert len(ours) > 90
    assert ours == sorted(ours, key=order.get)
