#!/usr/bin/env python3
"""Estimates how long the benchmark's kernels take on a GPU, without one, from their machine code and their launch plan.

Usage: benchmarks/gpu_estimate.py PLAN CUBIN [WORKLOAD ...] [--details] [--set NAME=VALUE ...]
  PLAN    the output of `coldpress-bench --plan`: for each workload the kernel's name, blocks, barriers and arguments
  CUBIN   benchmarks/static_cuda.cu, compiled with nvcc -arch=sm_90 -cubin and the flags of scripts/check-kernels.sh
cuobjdump and nvdisasm must be on PATH, or where scripts/install-deps.sh --with-cuobjdump puts them.

The first thread of the first block is followed through the code. Its integers are computed, because all sizes are
constants or arguments. Values from memory are unknown, except for tables of constants. So every loop is counted, not
guessed. Between two barriers of all blocks, the time of a block is the longest of
  - the time to issue the instructions of its warps, one per clock and scheduler,
  - the time of its units for shared memory, special functions and double precision, and of the paths to the L2 cache,
  - the time of one warp alone: the clocks that the compiler makes it wait after an instruction, and the latencies that it
    waits for by scoreboard.
The time of a kernel is the sum of these parts, of the barriers, and of a launch. The constants below were measured, come from
data sheets or are assumptions; docs/gpu.md lists them. Only Python's standard library is needed.
`benchmarks/gpu_estimate.py --self-test` follows code whose results are known.
"""
import argparse
import json
import os
import pathlib
import re
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONSTANTS = {
    # name: (value, unit, where it is from)
    "clock": (1.98, "GHz", "measured on an H100, docs/gpu.md"),
    "multiprocessors": (132, "", "data sheet"),
    "schedulers": (4, "of a multiprocessor, each issues an instruction of a warp per clock", "data sheet"),
    "warps": (8, "of a block, and one block of these kernels on a multiprocessor", "launch bounds"),
    "special": (8, "clocks of a scheduler for a special function of a warp", "data sheet: 16 units"),
    "double": (2, "clocks of a scheduler for a double-precision operation of a warp", "data sheet: 64 units"),
    "shared": (1, "clocks of a multiprocessor for 128 bytes from shared memory", "data sheet"),
    "shared_128": (2, "the same if a warp reads 16 bytes per thread, half of which other threads read, too", "assumed"),
    "l2": (24, "bytes per clock from the L2 cache to a multiprocessor", "assumed: 5.5 TB/s, shared by all"),
    "latency_global": (280, "clocks until a value from the L2 cache is there", "assumed, as published for other GPUs"),
    "latency_shared": (30, "clocks until a value from shared memory is there", "assumed, as published"),
    "latency_other": (20, "clocks until a special function, a conversion or a double-precision sum is there", "assumed"),
    "latency_store": (12, "clocks until a store has read its operands", "assumed"),
    "block_barrier": (25, "clocks for the warps of a block to meet", "assumed"),
    "cluster_barrier": (1050, "clocks for 16 blocks of a cluster, with the fence of the GPU and a cleared L1", "measured"),
    "grid_barrier": (3000, "clocks for blocks that take tickets in memory", "measured"),
    "launch": (2.0, "us from one kernel's end to the next one's first instruction", "assumed"),
}
MASK = 0xFFFFFFFF


class Cubin:
    """Sections of an ELF file: jump tables of kernels, and initialised constants."""

    BASE = 0x7A0000000000  # the address that the tables are assumed to have

    def __init__(self, path):
        self.data = data = open(path, "rb").read()
        shoff, = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        raw = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * size) for i in range(count)]
        strings = raw[names]
        self.sections = {}
        order = []
        for name, kind, flags, addr, offset, length, link, info, align, entry in raw:
            text = self.string(strings[4], name)
            order.append(text)
            self.sections[text] = dict(offset=offset, size=length, kind=kind, link=link, info=info, entry=entry)
        self.init = self.bytes(".nv.global.init")
        self.symbols = []
        table = self.sections.get(".symtab")
        strtab = self.sections[order[table["link"]]]["offset"]
        for i in range(table["size"] // 24):
            name, info, other, shndx, value, length = struct.unpack_from("<IBBHQQ", data, table["offset"] + i * 24)
            self.symbols.append((self.string(strtab, name), order[shndx] if shndx < len(order) else "", value))

    def string(self, table, at):
        begin = table + at
        return self.data[begin:self.data.index(b"\0", begin)].decode()

    def bytes(self, name):
        section = self.sections.get(name)
        return self.data[section["offset"]:section["offset"] + section["size"]] if section and section["kind"] != 8 else b""

    def constants(self, bank, kernel):
        """A bank of constants as bytes, with the addresses of tables filled in."""
        name = f".nv.constant{bank}.{kernel}"
        if name not in self.sections and bank == 4:
            name = ".nv.constant4"
        made = bytearray(self.bytes(name))
        for prefix, step in ((".rela", 24), (".rel", 16)):
            section = self.sections.get(prefix + name)
            if not section:
                continue
            for at in range(section["offset"], section["offset"] + section["size"], step):
                place, info = struct.unpack_from("<QQ", self.data, at)
                added = struct.unpack_from("<q", self.data, at + 16)[0] if step == 24 else 0
                symbol = self.symbols[info >> 32]
                if symbol[1] == ".nv.global.init" and place + 8 <= len(made):
                    struct.pack_into("<Q", made, place, self.BASE + symbol[2] + added)
        return bytes(made)


class Instruction:
    __slots__ = ("at", "text", "op", "base", "guard", "operands", "stall", "writes", "reads", "waits", "run", "bytes")


def disassemble(path):
    """{kernel: [Instruction]}"""
    places = [os.environ["PATH"], *map(str, ROOT.glob("build/cuobjdump/nvidia/*/bin"))]
    environment = os.environ | {"PATH": os.pathsep.join(places)}
    try:
        done = subprocess.run(["cuobjdump", "-sass", path], capture_output=True, text=True, env=environment)
    except FileNotFoundError:
        sys.exit("gpu_estimate.py: there is no cuobjdump; scripts/install-deps.sh --with-cuobjdump brings it")
    if done.returncode != 0:
        sys.exit(f"gpu_estimate.py: cuobjdump: {done.stderr.strip()}")
    text = done.stdout
    kernels, code, last = {}, None, None
    for line in text.splitlines():
        if match := re.match(r"\s*Function : (\S+)", line):
            code = kernels.setdefault(match[1], [])
        elif match := re.match(r"\s*/\*([0-9a-f]{4,6})\*/\s+(.*?);?\s*/\* 0x([0-9a-f]{16}) \*/", line):
            last = Instruction()
            last.at, last.text = int(match[1], 16), match[2].strip().rstrip(";").strip()
            parse(last)
            code.append(last)
        elif match := re.match(r"\s*/\* 0x([0-9a-f]{16}) \*/", line):
            high = int(match[1], 16)  # what the compiler tells the scheduler
            last.stall = max(1, high >> 41 & 15)
            last.writes, last.reads, last.waits = high >> 46 & 7, high >> 49 & 7, high >> 52 & 63
    return kernels


def parse(instruction):
    text = instruction.text.replace(".reuse", "")
    instruction.guard = None
    if text.startswith("@"):
        guard, text = text[1:].split(None, 1)
        instruction.guard = guard
    op, _, rest = text.partition(" ")
    instruction.op, instruction.base = op, op.split(".")[0]
    instruction.operands = [part.strip() for part in re.split(r",(?![^\[]*\])", rest)] if rest.strip() else []
    instruction.run = None
    instruction.bytes = 16 if ".128" in op else 8 if ".64" in op else 4


def signed(x):
    return x - (1 << 32) if x & 0x80000000 else x


def bits_of(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def float_of(x):
    return struct.unpack("<f", struct.pack("<I", x & MASK))[0]


class Thread:
    """The state of the first thread of a block, as far as it is known."""

    def __init__(self, cubin, kernel, code, plan):
        self.code, self.index = code, {instruction.at: n for n, instruction in enumerate(code)}
        self.r, self.u, self.p = {}, {}, {}
        self.local = {}
        self.cubin = cubin
        arguments = bytes.fromhex(plan["arguments"])
        bank0 = bytearray(0x210) + arguments
        for at, value in ((0x0, 256), (0x4, 1), (0x8, 1), (0xC, plan["blocks"]), (0x10, 1), (0x14, 1),
                          (0x140, 1 if plan["cluster"] else 0), (0x144, plan["blocks"] if plan["cluster"] else 1)):
            struct.pack_into("<I", bank0, at, value)
        self.banks = {0: bytes(bank0), 2: cubin.constants(2, kernel), 3: cubin.constants(3, kernel), 4: cubin.constants(4, kernel)}
        self.guessed = 0
        self.unknown_ops = {}

    # Operands.
    def reg(self, name):
        if name in ("RZ", "URZ", "SRZ"):
            return 0
        return (self.u if name[0] == "U" else self.r).get(int(name.lstrip("UR")), None)

    def set(self, name, value):
        if name in ("RZ", "URZ"):
            return
        (self.u if name[0] == "U" else self.r)[int(name.lstrip("UR"))] = None if value is None else value & MASK

    @staticmethod
    def next(name):
        if name in ("RZ", "URZ"):
            return name
        head = "UR" if name[0] == "U" else "R"
        return head + str(int(name.lstrip("UR")) + 1)

    def pred(self, name):
        negated = name.startswith("!")
        name = name.lstrip("!")
        value = True if name in ("PT", "UPT") else self.p.get(name)
        return None if value is None else value != negated

    def set_pred(self, name, value):
        if name not in ("PT", "UPT"):
            self.p[name] = value

    def constant(self, text, size=4):
        match = re.match(r"c\[0x([0-9a-f]+)\]\[(.*)\]$", text)
        bank, place, offset = self.banks.get(int(match[1], 16), b""), match[2], 0
        for part in place.split("+"):
            part = part.strip()
            if part.startswith(("R", "UR")):
                value = self.reg(part)
                if value is None:
                    return None
                offset += signed(value)
            else:
                offset += int(part, 16)
        if offset < 0 or offset + size > len(bank):
            return 0 if bank else None
        return int.from_bytes(bank[offset:offset + size], "little")

    def value(self, text, wide=False):
        """The value of a register, 32 bits, or of a pair of registers, 64 bits."""
        if text.startswith("-") and not text.startswith("-0x"):
            value = self.value(text[1:], wide)
            return None if value is None else (-value) & ((1 << 64) - 1 if wide else MASK)
        if text.startswith("~"):
            value = self.value(text[1:], wide)
            return None if value is None else ~value & ((1 << 64) - 1 if wide else MASK)
        if text.startswith("|"):
            return None
        if text.startswith("c["):
            return self.constant(text, 8 if wide else 4)
        if re.match(r"-?0x", text):
            value = int(text, 16)
            return value & ((1 << 64) - 1 if wide else MASK)
        text = text.replace(".64", "").replace(".U32", "")
        if re.match(r"U?R(\d+|Z)$", text):
            low = self.reg(text)
            if not wide:
                return low
            high = self.reg(self.next(text))
            return None if low is None or high is None else low | high << 32
        return None

    def is_global(self, instruction):
        """Whether an address is in global memory: the addresses of arguments are known, those of shared memory are not."""
        match = re.search(r"\[(R\d+)", instruction.text)
        address = self.value(match[1], True) if match else None
        return address is not None and address >> 32 > 0

    def forget(self, instruction):
        """Marks what an instruction writes as unknown: the registers and predicates before its sources."""
        op, names = instruction.op, instruction.operands
        if instruction.base in ("ST", "STG", "STS", "STL", "RED", "REDG", "BAR", "NOP", "EXIT", "BSSY", "BSYNC", "MEMBAR", "ERRBAR",
                                "CGAERRBAR", "CCTL", "YIELD", "WARPSYNC", "UCGABAR_ARV", "UCGABAR_WAIT", "BREAK", "ENDCOLLECTIVE",
                                "DEPBAR", "BMOV"):
            return
        for name in names:
            if re.match(r"U?P\d$", name):
                self.p[name] = None
            elif name in ("PT", "UPT"):
                continue
            elif re.match(r"U?R(\d+)$", name):
                wide = (".64" in op or "WIDE" in op or instruction.base in ("DADD", "DMUL", "DFMA") or
                        op.startswith(("F2F.F64", "I2F.F64", "F2I.S64", "F2I.U64")))
                count = 4 if ".128" in op else 2 if wide else 1
                if instruction.base == "HMMA":
                    count = 4
                for _ in range(count):
                    self.set(name, None)
                    name = self.next(name)
                return
            else:
                return

    # The effect of an instruction on the known values.
    def step(self, ins):
        op, base, o = ins.op, ins.base, ins.operands
        if base in ("UIADD3", "UIMAD", "ULEA", "ULOP3", "USHF", "UISETP", "USEL", "UMOV", "ULDC", "UPLOP3", "UPRMT"):
            base, op = base[1:], op[1:]
        handler = HANDLERS.get(base)
        if handler is None or handler(self, op, o) is False:
            self.forget(ins)
            if handler is None:
                self.unknown_ops[ins.op] = self.unknown_ops.get(ins.op, 0) + 1


def split_targets(o):
    """(register, predicates, sources)"""
    register, n = o[0], 1
    predicates = []
    while n < len(o) and re.match(r"U?P(\d|T)$", o[n]):
        predicates.append(o[n])
        n += 1
    return register, predicates, o[n:]


def h_mov(t, op, o):
    t.set(o[0], t.value(o[1]))


def h_cs2r(t, op, o):
    if o[1] != "SRZ":
        return False
    t.set(o[0], 0)
    if ".32" not in op:
        t.set(t.next(o[0]), 0)


def h_s2r(t, op, o):
    t.set(o[0], 0 if o[1] in ("SR_CTAID.X", "SR_TID.X", "SR_CgaCtaId", "SR_LANEID") else None)


def h_ldc(t, op, o):
    size = 1 if ".U8" in op else 2 if ".U16" in op else 4
    if ".64" in op:
        value = t.constant(o[1], 8)
        t.set(o[0], None if value is None else value)
        t.set(t.next(o[0]), None if value is None else value >> 32)
        return None
    t.set(o[0], t.constant(o[1], size))


def h_iadd3(t, op, o):
    register, carries, sources = split_targets(o)
    carry_in = []
    while sources and re.match(r"!?U?P(\d|T)$", sources[-1]):
        carry_in.append(sources.pop())
    total = 0
    for source in sources:
        negated = source.startswith("-") and not source.startswith("-0x")
        value = t.value(source[1:] if negated else source)
        if value is None:
            total = None
            break
        total += (1 << 32) - value if negated and ".X" not in op else (~value & MASK) if negated else value
    if total is not None and ".X" in op:
        for name in carry_in:
            carry = t.pred(name)
            if carry is None:
                total = None
                break
            total += carry
    t.set(register, total)
    for n, name in enumerate(carries):
        t.set_pred(name, None if total is None else total >> 32 > n)


def h_viadd(t, op, o):
    a, b = t.value(o[1]), t.value(o[2])
    t.set(o[0], None if a is None or b is None else a + b)


def h_imad(t, op, o):
    register, carries, sources = split_targets(o)
    carry = 0
    if sources and re.match(r"!?U?P(\d|T)$", sources[-1]):
        carry = t.pred(sources.pop())
    if "WIDE" in op:
        a, b, c = t.value(sources[0]), t.value(sources[1]), t.value(sources[2], True)
        if None in (a, b, c, carry):
            total = None
        else:
            total = (a * b if ".U32" in op else signed(a) * signed(b)) % (1 << 64) + c + carry
        t.set(register, total)
        t.set(t.next(register), None if total is None else total >> 32)
        for name in carries:
            t.set_pred(name, None if total is None else total >> 64 > 0)
        return None
    if ".HI" in op:
        a, b, c = t.value(sources[0]), t.value(sources[1]), t.value(sources[2], sources[2] not in ("RZ", "URZ"))
        if None in (a, b, c):
            t.set(register, None)
        else:
            t.set(register, ((a * b if ".U32" in op else signed(a) * signed(b)) + c) >> 32)
        return None
    a, b, c = (t.value(source) for source in sources[:3])
    if (a == 0 or b == 0) and c is not None:
        a = b = 0
    if None in (a, b, c, carry):
        t.set(register, None)
        for name in carries:
            t.set_pred(name, None)
        return None
    total = a * b + c + carry
    t.set(register, total)
    for name in carries:
        t.set_pred(name, total >> 32 > 0)


def h_lea(t, op, o):
    register, carries, sources = split_targets(o)
    carry = 0
    if re.match(r"!?U?P(\d|T)$", sources[-1]):
        carry = t.pred(sources.pop())
    if ".HI" in op:
        if ".SX32" in op:
            a, b, shift = t.value(sources[0]), t.value(sources[1]), t.value(sources[2])
            high = None if a is None else (MASK if a & 0x80000000 else 0)
        else:
            a, b, high, shift = (t.value(source) for source in sources)
        if None in (a, b, high, shift, carry):
            total = None
        else:
            total = ((high << 32 | a) << shift >> 32 & MASK) + b + carry
    else:
        a, b, shift = t.value(sources[0]), t.value(sources[1]), t.value(sources[2]) if len(sources) > 2 else 0
        total = None if None in (a, b, shift, carry) else (a << shift & MASK) + b + carry
    t.set(register, total)
    for name in carries:
        t.set_pred(name, None if total is None else total >> 32 > 0)


def h_lop3(t, op, o):
    n = 0
    flag = None
    if re.match(r"U?P(\d|T)$", o[0]):
        flag, n = o[0], 1
    a, b, c = (t.value(x) for x in o[n + 1:n + 4])
    table = int(o[n + 4], 16)
    # 0xc0: a & b; an operand that is known to be 0 decides.
    if table == 0xC0 and 0 in (a, b):
        a, b, c = 0, 0, 0
    if None in (a, b, c):
        value = None
    else:
        value = 0
        for k in range(8):
            if table >> k & 1:
                value |= (a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c)
        value &= MASK
    t.set(o[n], value)
    if flag:
        t.set_pred(flag, None if value is None else value != 0)


def h_plop3(t, op, o):
    a, b, c = (t.pred(x) for x in o[2:5])
    for target, table in ((o[0], int(o[5], 16)), (o[1], int(o[6], 16))):
        outcomes = set()
        for x in ((a,) if a is not None else (False, True)):
            for y in ((b,) if b is not None else (False, True)):
                for z in ((c,) if c is not None else (False, True)):
                    outcomes.add(bool(table >> (4 * x + 2 * y + z) & 1))
        t.set_pred(target, outcomes.pop() if len(outcomes) == 1 else None)


def h_isetp(t, op, o):
    parts = op.split(".")
    a, b = t.value(o[2]), t.value(o[3])
    others = [t.pred(x) for x in o[4:]]
    unsigned, extended = "U32" in parts, "EX" in parts
    if None in (a, b):
        value = None
    else:
        if not unsigned:
            a, b = signed(a), signed(b)
        how = parts[1]
        value = {"GT": a > b, "GE": a >= b, "LT": a < b, "LE": a <= b, "EQ": a == b, "NE": a != b}[how]
        if extended:
            low = others[1]
            if how in ("GT", "GE", "LT", "LE"):
                value = (a > b if how[0] == "G" else a < b) if a != b else low
            else:
                value = (low if a == b else False) if how == "EQ" else (True if a != b else low)
    joined = others[0]
    with_and = "OR" not in parts

    def join(x):
        if with_and:
            return False if False in (x, joined) else None if None in (x, joined) else True
        return True if True in (x, joined) else None if None in (x, joined) else False

    t.set_pred(o[0], join(value))
    t.set_pred(o[1], join(None if value is None else not value))


def h_sel(t, op, o):
    chosen = t.pred(o[3])
    t.set(o[0], None if chosen is None else t.value(o[1] if chosen else o[2]))


def h_shf(t, op, o):
    low, shift, high = t.value(o[1]), t.value(o[2]), t.value(o[3])
    parts = op.split(".")
    if shift is None:
        return t.set(o[0], None)
    shift &= 63
    if parts[1] == "L":
        if "HI" in parts:
            known = low is not None and high is not None
            return t.set(o[0], ((high << 32 | low) << shift >> 32) if known else None)
        return t.set(o[0], None if low is None else low << shift)
    if "HI" in parts:
        if high is None:
            return t.set(o[0], None)
        return t.set(o[0], (signed(high) if "S32" in parts or "S64" in parts else high) >> shift)
    if low is None or high is None:
        return t.set(o[0], None)
    whole = (signed(high) if "S64" in parts or "S32" in parts else high) << 32 | low
    return t.set(o[0], whole >> shift)


def h_prmt(t, op, o):
    a, selector, b = t.value(o[1]), t.value(o[2]), t.value(o[3])
    if None in (a, selector, b):
        return t.set(o[0], None)
    whole, value = a | b << 32, 0
    for n in range(4):
        pick = selector >> 4 * n & 15
        byte = whole >> 8 * (pick & 7) & 255
        if pick & 8:
            byte = 255 if byte & 128 else 0
        value |= byte << 8 * n
    return t.set(o[0], value)


def h_hfma2(t, op, o):
    if not (o[1].lstrip("-") == "RZ" and o[2] == "RZ"):
        return False
    try:
        halves = [struct.unpack("<H", struct.pack("<e", float(x)))[0] for x in o[3:5]]
    except (ValueError, OverflowError):
        return False
    t.set(o[0], halves[0] << 16 | halves[1])
    return None


def h_iabs(t, op, o):
    a = t.value(o[1])
    t.set(o[0], None if a is None else abs(signed(a)))


def h_minmax(t, op, o):
    a, b, lower = t.value(o[1]), t.value(o[2]), t.pred(o[-1])
    t.set(o[0], None if None in (a, b, lower) else (min if lower else max)(signed(a), signed(b)))


def h_i2f(t, op, o):
    wide = "64" in op and "F64" not in op
    a = t.value(o[1], wide)
    if a is None or "F64" in op:
        return False
    value = float(a if ".U" in op else (a - (1 << 64) if wide and a >> 63 else a) if wide else signed(a))
    made = bits_of(value)
    if ".RP" in op and float_of(made) < value:
        made += 1
    t.set(o[0], made)
    return None


def h_mufu(t, op, o):
    a = t.value(o[1])
    if op != "MUFU.RCP" or a is None or float_of(a) == 0:
        return False
    t.set(o[0], bits_of(1 / float_of(a)))
    return None


def h_f2i(t, op, o):
    a = t.value(o[1])
    if a is None or "TRUNC" not in op or "F64" in op:
        return False
    value = float_of(a)
    if value != value or abs(value) > 2.0**64:
        return False
    t.set(o[0], int(value))
    if "64" in op:
        t.set(t.next(o[0]), int(value) >> 32)
    return None


def h_ld(t, op, o):
    """Loads from tables only, and from the thread's own memory."""
    match = re.search(r"\[(U?R\d+|RZ)?(?:\.64|\.U32)*\+?(UR\d+)?\+?(-?0x[0-9a-f]+)?\]$", o[-1])
    if not match or not match[1]:
        return False
    offset = int(match[3], 16) if match[3] else 0
    if op.startswith("LDL"):
        at = t.value(match[1])
        if at is None:
            return False
        size = 1 if ".U8" in op else 2 if ".U16" in op else 4
        for n in range(4 if ".128" in op else 2 if ".64" in op else 1):
            bytes_ = [t.local.get((at + offset + 4 * n + k) & MASK) for k in range(size)]
            t.set("R" + str(int(o[0][1:]) + n), None if None in bytes_ else int.from_bytes(bytes_, "little"))
        return None
    at = t.value(match[1], True)
    if at is None:
        return False
    if match[2]:
        more = t.value(match[2], True)
        if more is None:
            return False
        at += more
    at += offset - t.cubin.BASE
    size = 1 if ".U8" in op or ".S8" in op else 2 if ".U16" in op else 4
    if not 0 <= at <= len(t.cubin.init) - size:
        return False
    count = 4 if ".128" in op else 2 if ".64" in op else 1
    for n in range(count):
        t.set("R" + str(int(o[0][1:]) + n), int.from_bytes(t.cubin.init[at + 4 * n:at + 4 * n + size], "little"))
    return None


def h_stl(t, op, o):
    match = re.search(r"\[(R\d+|RZ)?\+?(-?0x[0-9a-f]+)?\]$", o[0])
    at = t.value(match[1] or "RZ") if match else None
    if at is None:
        t.local.clear()
        return None
    size = 1 if ".U8" in op or ".S8" in op else 2 if ".U16" in op else 4
    for n in range(4 if ".128" in op else 2 if ".64" in op else 1):
        value = t.value(o[1] if o[1] == "RZ" else "R" + str(int(o[1][1:]) + n))
        for k in range(size):
            place = (at + (int(match[2], 16) if match[2] else 0) + 4 * n + k) & MASK
            t.local[place] = None if value is None else value >> 8 * k & 255
    return None


def h_p2r(t, op, o):
    mask, value = t.value(o[3]), 0
    for n in range(7):
        if mask >> n & 1:
            flag = t.p.get(f"P{n}")
            if flag is None:
                return False
            value |= flag << n
    t.set(o[0], value)
    return None


def h_r2p(t, op, o):
    value, mask = t.value(o[1]), t.value(o[2])
    for n in range(7):
        if mask >> n & 1:
            t.p[f"P{n}"] = None if value is None else bool(value >> n & 1)
    return None


HANDLERS = {
    "MOV": h_mov, "R2UR": h_mov, "CS2R": h_cs2r, "S2R": h_s2r, "S2UR": h_s2r, "LDC": h_ldc, "IADD3": h_iadd3, "VIADD": h_viadd,
    "IMAD": h_imad, "LEA": h_lea, "LOP3": h_lop3, "PLOP3": h_plop3, "ISETP": h_isetp, "SEL": h_sel, "SHF": h_shf, "PRMT": h_prmt,
    "HFMA2": h_hfma2, "IABS": h_iabs, "VIMNMX": h_minmax, "IMNMX": h_minmax, "I2F": h_i2f, "MUFU": h_mufu, "F2I": h_f2i,
    "LDG": h_ld, "LD": h_ld, "LDL": h_ld, "STL": h_stl, "P2R": h_p2r, "R2P": h_r2p,
}
SPECIAL = {"MUFU", "I2F", "F2I", "F2F", "FCHK", "POPC", "FLO"}


class Part:
    """What happens between two barriers of all blocks."""

    def __init__(self):
        self.issued = self.special = self.double = self.shared = self.bytes = self.barriers = self.alone = 0
        self.fma = 0

    def clocks(self, c):
        warps_each = c["warps"] / c["schedulers"]
        limits = {
            "issue": warps_each * self.issued,
            "special": warps_each * self.special * c["special"],
            "double": warps_each * self.double * c["double"],
            "shared memory": c["warps"] * self.shared,
            "L2": c["warps"] * self.bytes / c["l2"],
            "latency": self.alone,
        }
        why = max(limits, key=limits.get)
        return limits[why], why


def follow(thread, c, limit=30_000_000):
    """Returns the parts in order, and whether the barrier after each is that of a cluster."""
    parts, part, barriers = [], Part(), []
    code, n, calls = thread.code, 0, []
    clock, ready = 0, [0] * 6
    turns = {}  # how often a branch of unknown direction jumped back
    for _ in range(limit):
        ins = code[n]
        part.issued += 1
        for k in range(6):
            if ins.waits >> k & 1 and ready[k] > clock:
                clock = ready[k]
        base = ins.base
        allowed = True if ins.guard is None else thread.pred(ins.guard)
        if allowed is not False:
            latency = c["latency_other"]
            near = base in ("LDS", "LDSM", "STS") or (base in ("LD", "ST") and not thread.is_global(ins))
            if near:
                part.shared += c["shared_128"] if ins.bytes == 16 else c["shared"]
            elif base in ("LDG", "LD", "STG", "ST") and ".CONSTANT" not in ins.op:
                part.bytes += 32 * ins.bytes
            if near or base == "LDL":
                latency = c["latency_shared"]
            elif base in ("LDG", "LD", "ATOMG", "ATOM"):
                latency = c["latency_global"]
            if ins.writes != 7:
                ready[ins.writes] = clock + latency
            if ins.reads != 7:
                ready[ins.reads] = clock + c["latency_store"]
        if base in SPECIAL:
            part.special += 1
        elif base in ("DADD", "DMUL", "DFMA", "DSETP"):
            part.double += 1
        elif base == "FFMA":
            part.fma += 1
        clock += ins.stall
        after = n + 1
        if base == "BAR" and allowed is not False:
            part.barriers += 1
            clock = max([clock] + ready) + c["block_barrier"]
        elif base in ("BRA", "CALL", "RET", "BRX", "BRXU", "EXIT", "BPT"):
            if base == "EXIT":
                if allowed is not False:
                    part.alone = clock
                    parts.append(part)
                    return parts, barriers
            elif base == "BPT":
                if allowed is not False:
                    raise RuntimeError(f"a trap at {ins.at:#x}")
            elif base == "RET":
                after = calls.pop()
            elif base == "CALL":
                calls.append(n + 1)
                after = thread.index[int(ins.operands[-1].split()[0].strip("`()"), 16)]
            elif base == "BRXU":
                low = thread.value(ins.operands[0].split()[0])
                after = thread.index[low]
            elif ".DIV" not in ins.op:
                target = thread.index[int(ins.operands[-1], 16)]
                taken = allowed
                for name in ins.operands[:-1]:
                    flag = thread.pred(name)
                    taken = False if False in (taken, flag) else None if None in (taken, flag) else True
                if taken is None:
                    # Waiting for other blocks ends at once; of two paths, the one that does not trap is taken.
                    thread.guessed += 1
                    taken = target > n and any(i.base == "BPT" for i in code[n + 1:n + 4])
                if taken:
                    after = target
                    clock += 6
        elif allowed is None:
            thread.forget(ins)
        elif allowed:
            thread.step(ins)
        if (base == "UCGABAR_ARV" or ins.op.startswith("ATOMG.E.INC")) and allowed is not False:
            part.alone = clock
            parts.append(part)
            barriers.append("cluster" if base == "UCGABAR_ARV" else "grid")
            part, clock, ready = Part(), 0, [0] * 6
        n = after
    raise RuntimeError("it does not end")


def kernel_of(kernels, plan):
    wanted = (f"NamedILm{plan['number']}E", "integral_constantIlLl" + str(plan["batch"]) + "E")
    for name in kernels:
        if all(part in name for part in wanted) and ("ForwardOf" in name) == (plan["pass"] == "forward"):
            return name
    return None


def self_test():
    """Tests instructions with known results, and nested loops with known numbers of iterations."""

    class NoTables:
        BASE, init = Cubin.BASE, (7).to_bytes(4, "little")

        @staticmethod
        def constants(bank, kernel):
            return struct.pack("<Q", Cubin.BASE) if bank == 4 else b""

    def thread_of(text):
        code = []
        for n, line in enumerate(text.strip().splitlines()):
            ins = Instruction()
            ins.at, ins.text, ins.stall, ins.writes, ins.reads, ins.waits = 16 * n, line.strip(), 1, 7, 7, 0
            parse(ins)
            code.append(ins)
        return Thread(NoTables, "", code, {"arguments": struct.pack("<Q", 0x7F0000000200).hex(), "blocks": 3, "cluster": False})

    c = {name: value[0] for name, value in CONSTANTS.items()}
    thread = thread_of("""
        MOV R1, 0xfffffff0
        IADD3 R2, P1, R1, 0x20, RZ
        IADD3.X R3, RZ, RZ, RZ, P1, !PT
        IADD3 R4, -R2, 0x5, RZ
        SHF.R.S32.HI R5, RZ, 0x4, R4
        LEA.HI R6, R1, 0x1, RZ, 0x8
        IMAD.WIDE.U32 R8, R1, 0x10, RZ
        IMAD.HI.U32 R10, R1, 0x10, RZ
        LOP3.LUT R11, R1, 0xff, RZ, 0xc0, !PT
        ISETP.LT.AND P2, PT, R1, RZ, PT
        ISETP.LT.U32.AND P3, PT, R1, RZ, PT
        ISETP.GT.U32.AND P4, PT, R1, 0x1, PT
        ISETP.GT.AND.EX P4, PT, R3, R3, PT, P4
        PRMT R12, R1, 0x9910, RZ
        HFMA2.MMA R13, -RZ, RZ, 1.875, 0
        I2F.U32.RP R14, 0x6
        LDC.64 R16, c[0x4][0x0]
        LDG.E.CONSTANT R18, desc[UR4][R16.64]
        LDC R19, c[0x0][0x210]
        SEL R20, R18, RZ, P2
        LDG.E R21, desc[UR4][R8.64]
        IADD3 R22, R21, 0x1, RZ
        EXIT
        """)
    follow(thread, c)
    known = {2: 0x10, 3: 1, 4: 0xFFFFFFF5, 5: 0xFFFFFFFF, 6: 0x100, 8: 0xFFFFFF00, 9: 0xF, 10: 0xF, 11: 0xF0, 12: 0xFFFFFFF0,
             13: 0x3F800000, 14: 0x40C00000, 18: 7, 19: 0x200, 20: 7, 21: None, 22: None}
    for number, value in known.items():
        assert thread.r.get(number) == value, f"R{number} is {thread.r.get(number)}, not {value}"
    assert [thread.p[f"P{n}"] for n in (1, 2, 3, 4)] == [True, True, False, True], thread.p
    # Ten iterations, each with 4 iterations of 3 instructions and a barrier of all blocks.
    thread = thread_of("""
        MOV R1, RZ
        MOV R2, RZ
        FFMA R9, R9, R9, R9
        IADD3 R2, R2, 0x4, RZ
        ISETP.GE.U32.AND P0, PT, R2, 0x10, PT
        @!P0 BRA 0x20
        UCGABAR_ARV
        IADD3 R1, R1, 0x1, RZ
        ISETP.NE.AND P0, PT, R1, 0xa, PT
        @P0 BRA 0x10
        LDG.E.STRONG.GPU R3, desc[UR4][R4.64]
        ISETP.NE.AND P0, PT, R3, 0x1, PT
        @P0 BRA 0xa0
        EXIT
        """)
    parts, barriers = follow(thread, c)
    assert [part.fma for part in parts] == [4] * 10 + [0], [part.fma for part in parts]
    assert barriers == ["cluster"] * 10 and sum(part.issued for part in parts) == 1 + 10 * (1 + 16 + 4) + 4
    assert thread.guessed == 1
    print("gpu_estimate.py: self test passed")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan")
    parser.add_argument("cubin")
    parser.add_argument("workloads", nargs="*")
    parser.add_argument("--details", action="store_true", help="what limits each part between two barriers")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="another value of a constant")
    parser.add_argument("--constants", action="store_true", help="print the constants as a table")
    arguments = parser.parse_intermixed_args()
    c = {name: value[0] for name, value in CONSTANTS.items()}
    for setting in arguments.set:
        name, value = setting.split("=")
        if name not in c:
            sys.exit(f"gpu_estimate.py: there is no constant '{name}'; there are {', '.join(c)}")
        c[name] = float(value)
    if arguments.constants:
        print("| Constant | Value | What it is | From |\n|---|---|---|---|")
        for name, (value, unit, source) in CONSTANTS.items():
            print(f"| {name} | {value} | {unit} | {source} |")
        print()
    cubin, kernels = Cubin(arguments.cubin), disassemble(arguments.cubin)
    print("| Workload | Blocks | Barriers | Instructions of a warp | of these FFMA | us |\n|---|---|---|---|---|---|")
    for line in open(arguments.plan):
        if not line.startswith("{"):
            continue
        plan = json.loads(line)
        if arguments.workloads and plan["workload"] not in arguments.workloads:
            continue
        name = kernel_of(kernels, plan)
        if not name:
            print(f"gpu_estimate.py: {plan['workload']}: {arguments.cubin} has no such kernel; it and the plan must be of one source",
                  file=sys.stderr)
            continue
        if not plan["cluster"]:
            plan["blocks"] = min(plan["blocks"], int(c["multiprocessors"]))
        thread = Thread(cubin, name, kernels[name], plan)
        try:
            parts, barriers = follow(thread, c)
        except (RuntimeError, KeyError, IndexError, TypeError) as error:
            print(f"gpu_estimate.py: {plan['workload']}: cannot be followed: {error!r}", file=sys.stderr)
            continue
        clocks = sum(part.clocks(c)[0] for part in parts) + sum(c[kind + "_barrier"] for kind in barriers)
        us = clocks / (c["clock"] * 1000) + c["launch"]
        blocks = f"{plan['blocks']} as a cluster" if plan["cluster"] else str(plan["blocks"])
        print(f"| {plan['workload']} | {blocks} | {len(barriers)} | {sum(p.issued for p in parts)} | {sum(p.fma for p in parts)} | {us:.0f} |")
        if arguments.details:
            for number, part in enumerate(parts):
                made, why = part.clocks(c)
                print(f"    part {number}: {part.issued} instructions, {part.fma} FFMA, {part.barriers} barriers of a block, "
                      f"{made:.0f} clocks by {why}; issue {c['warps'] / c['schedulers'] * part.issued:.0f}, "
                      f"shared memory {c['warps'] * part.shared:.0f}, L2 {c['warps'] * part.bytes / c['l2']:.0f}, "
                      f"one warp alone {part.alone}", file=sys.stderr)
            print(f"    branches that were guessed: {thread.guessed}; not followed: {thread.unknown_ops}", file=sys.stderr)
        # A single block waits only for itself.
        if len(barriers) != (plan["barriers"] if plan["blocks"] > 1 else 0):
            print(f"gpu_estimate.py: {plan['workload']}: {len(barriers)} barriers were passed, the plan has {plan['barriers']}",
                  file=sys.stderr)


if __name__ == "__main__":
    main()
