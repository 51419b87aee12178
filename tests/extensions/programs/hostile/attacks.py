"""Programs that try to do harm, by kind. Each acts on throwaway targets of `tests.extensions.programs.hostile.targets` only.

A program sets ``result`` to True if its attempt worked. ``@NAME@`` is replaced by what the targets say. All are bounded
in time, number and memory.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Attack(NamedTuple):
    """One hostile program.

    Attributes:
        kind: what it attacks.
        tries: what it tries to do.
        seen: how it is seen that it did not: ``result`` is not True, and what else the test looks at.
        program: its source; `HEADER` goes before it.
        reasons: the outcomes it may have, if that matters.
    """

    kind: str
    tries: str
    seen: str
    program: str
    reasons: tuple[str, ...] = ()


HEADER: Final = """
import ctypes, errno, os, resource, signal, socket, struct, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    return libc.syscall(number, *args)
def attempt(action, *args):
    try:
        value = action(*args)
    except (OSError, ValueError, RuntimeError, ImportError):
        return False
    return value if isinstance(value, bool) else True
libc.prctl(15, b'@TAG@', 0, 0, 0)  # the name by which leftovers are found
result = False
"""

_FILES: Final = [
    Attack("files", "read a secret of the user", "result", "result = attempt(open, '@FOLDER@/secret')"),
    Attack("files", "append to a file of the user", "the file", "open('@FOLDER@/file', 'a').write('hostile')"),
    Attack("files", "delete a file of the user", "the file", "os.unlink('@FOLDER@/file')"),
    Attack("files", "rename a file of the user", "the folder", "os.rename('@FOLDER@/file', '@FOLDER@/hostile')"),
    Attack("files", "replace a file by a link", "the folder", "os.symlink('/dev/null', '@FOLDER@/hostile')"),
    Attack("files", "hard-link a file of the user", "the folder", "os.link('@FOLDER@/file', '@FOLDER@/hostile')"),
    Attack("files", "make all files writable for others", "the mode", "os.chmod('@FOLDER@/file', 0o777)"),
    Attack("files", "change the time of a file", "the time", "os.utime('@FOLDER@/file', (1, 1))"),
    Attack("files", "truncate a file by its name", "the file", "libc.truncate(b'@FOLDER@/file', 0)"),
    Attack("files", "set an extended attribute", "the attribute", "os.setxattr('@FOLDER@/file', 'user.hostile', b'1')"),
    Attack("files", "make a FIFO in the user's folder", "the folder", "os.mkfifo('@FOLDER@/hostile')"),
    Attack("files", "read the list of passwords", "result", "result = attempt(open, '/etc/shadow')"),
    Attack(
        "files",
        "write to the interpreter's library and the packages",
        "result",
        "import json\n"
        "for folder in [os.path.dirname(json.__file__), *[p for p in sys.path if p.endswith('-packages')], '/usr/lib']:\n"
        "    result = result or attempt(open, folder + '/hostile@TAG@', 'w')",
    ),
    Attack(
        "files",
        "write to the root folder, /dev, /etc, /var/tmp and /run",
        "the folders",
        "for folder in ['', '/dev', '/etc', '/var/tmp', '/run', '/home', '/root', '/sys']:\n"
        "    result = result or attempt(open, folder + '/hostile@TAG@', 'w')",
    ),
    Attack(
        "files",
        "leave a file in the temporary folders",
        "the folders",
        "for folder in ['/tmp', '/dev/shm', '/var/tmp']:\n    attempt(open, folder + '/hostile@TAG@', 'w')",
    ),
    Attack(
        "files",
        "open the user's folder by way of /proc",
        "result",
        "for way in ['/proc/1/root', '/proc/self/root', '/proc/@VICTIM@/root', '/proc/@VICTIM@/cwd', '/proc/1/cwd']:\n"
        "    result = result or attempt(open, way + '@FOLDER@/secret')",
    ),
    Attack(
        "files",
        "open a file by its handle",
        "result",
        "handle = struct.pack('IiII', 8, 1, 2, 0)\n"
        "result = call(304, os.open('/usr', os.O_RDONLY), handle, os.O_RDONLY) >= 0",
    ),
    Attack("files", "change the root folder", "result", "result = attempt(os.chroot, '/tmp')"),
]

_SOCKETS: Final = [
    Attack(
        "sockets",
        "connect to a server of this machine",
        "the server",
        "socket.create_connection(('127.0.0.1', @PORT@), 2)",
    ),
    Attack(
        "sockets",
        "send a datagram",
        "the server",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'hostile', ('127.0.0.1', @PORT@))",
    ),
    Attack(
        "sockets",
        "listen over IPv6",
        "result",
        "result = attempt(lambda: socket.create_server(('::1', 0), family=socket.AF_INET6))",
    ),
    Attack(
        "sockets",
        "connect to a UNIX socket",
        "the server",
        "s = socket.socket(socket.AF_UNIX)\ns.connect('@FOLDER@/stream')",
    ),
    Attack(
        "sockets",
        "connect to an abstract UNIX socket",
        "the server",
        "s = socket.socket(socket.AF_UNIX)\ns.connect('\\0@TAG@')",
    ),
    Attack(
        "sockets",
        "send a datagram to a UNIX socket, from a connected pair",
        "the server",
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\na.sendto(b'hostile', '@FOLDER@/datagram')",
    ),
    Attack(
        "sockets",
        "create a file by binding a UNIX socket of a pair",
        "the folder",
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\na.bind('@FOLDER@/hostile')",
    ),
    Attack(
        "sockets",
        "create a file by binding a stream",
        "the folder",
        "socket.socket(socket.AF_UNIX).bind('@FOLDER@/hostile')",
    ),
    Attack(
        "sockets", "open a raw socket", "result", "result = attempt(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1)"
    ),
    Attack("sockets", "open a packet socket", "result", "result = attempt(socket.socket, 17, socket.SOCK_RAW, 3)"),
    Attack("sockets", "open netlink", "result", "result = attempt(socket.socket, 16, socket.SOCK_RAW, 0)"),
    Attack(
        "sockets",
        "open a socket of any other family",
        "result",
        "for family in range(2, 46):\n    for kind in (1, 2, 3, 5):\n"
        "        result = result or attempt(socket.socket, family, kind)",
    ),
    Attack(
        "sockets",
        "get a connection by io_uring",
        "result",
        "result = call(425, 8, ctypes.create_string_buffer(512)) >= 0",
    ),
]

_SIGNALS: Final = [
    Attack("signals", "kill a process of the user", "the victim", "os.kill(@VICTIM@, signal.SIGKILL)"),
    Attack(
        "signals",
        "kill everything",
        "the victim",
        "attempt(os.kill, -1, signal.SIGKILL)\nattempt(os.killpg, 0, signal.SIGTERM)\nattempt(os.kill, os.getppid(), signal.SIGKILL)",
    ),
    Attack(
        "signals",
        "kill by the owner of a socket",
        "the victim",
        "import fcntl\na, b = socket.socketpair()\nfcntl.fcntl(a, fcntl.F_SETOWN, @VICTIM@)\nfcntl.fcntl(a, 10, signal.SIGKILL)\n"
        "fcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC)\nb.send(b'x')",
    ),
    Attack(
        "signals",
        "kill by the owner of a terminal or socket, by ioctl",
        "the victim",
        "import fcntl\na, b = socket.socketpair()\nfor request in (0x8901, 0x8902):\n"
        "    attempt(fcntl.ioctl, a, request, struct.pack('i', @VICTIM@))\nattempt(fcntl.ioctl, a, 0x5452, struct.pack('i', 1))\n"
        "b.send(b'x')",
    ),
    Attack(
        "signals",
        "kill a thread of another process",
        "the victim",
        "call(200, @VICTIM@, 9)\ncall(234, @VICTIM@, @VICTIM@, 9)",
    ),
    Attack(
        "signals",
        "queue a signal",
        "the victim",
        "call(129, @VICTIM@, 9, struct.pack('iiiiii', 9, 0, -1, 0, 0, 0) + bytes(200))",
    ),
    Attack(
        "signals",
        "kill by a descriptor of the process",
        "the victim",
        "fd = call(434, @VICTIM@, 0)\nresult = fd >= 0 and call(424, fd, 9, None, 0) == 0",
    ),
    Attack(
        "signals",
        "kill by a timer's thread",
        "the victim",
        "call(222, 0, struct.pack('QiiiQQQ', 0, 9, 4, @VICTIM@, 0, 0, 0), ctypes.create_string_buffer(8))",
    ),
    Attack(
        "signals",
        "kill the guard, or wake it",
        "result",
        "parent = os.getppid()\nfor number in range(1, 65):\n    attempt(os.kill, parent, number)\ntime.sleep(0.3)\nsys.exit(0)",
    ),
]

_PROCESSES: Final = [
    Attack("ptrace and /proc", "trace a process of the user", "result", "result = call(101, 16, @VICTIM@, 0, 0) == 0"),
    Attack("ptrace and /proc", "trace the guard", "result", "result = call(101, 0x4206, os.getppid(), 0, 0) == 0"),
    Attack(
        "ptrace and /proc",
        "read the environment of the user's processes",
        "result",
        "for process in ['@VICTIM@', '@RUN@', '1', str(os.getppid())]:\n    for name in ['environ', 'mem', 'maps', 'auxv']:\n"
        "        result = result or attempt(lambda: bool(open(f'/proc/{process}/{name}', 'rb').read(1)))",
    ),
    Attack(
        "ptrace and /proc",
        "find the secret in any environment that can be read",
        "result",
        "for process in (os.listdir('/proc') if attempt(os.listdir, '/proc') else []):\n    if process.isdigit():\n"
        "        result = result or attempt(lambda: b'SECRET-@TAG@' in open(f'/proc/{process}/environ', 'rb').read())",
    ),
    Attack(
        "ptrace and /proc",
        "read memory of another process",
        "result",
        "local = ctypes.create_string_buffer(64)\nfor process in (@VICTIM@, @RUN@, os.getppid()):\n    result = result or call(310, process, struct.pack('QQ', ctypes.addressof(local), 8), 1, struct.pack('QQ', 0x400000, 8), 1, 0) > 0",
    ),
    Attack(
        "ptrace and /proc",
        "write memory of another process",
        "result",
        "local = ctypes.create_string_buffer(64)\nresult = call(311, @VICTIM@, struct.pack('QQ', ctypes.addressof(local), 8), 1, struct.pack('QQ', 0x400000, 8), 1, 0) > 0",
    ),
    Attack(
        "ptrace and /proc",
        "take a descriptor of another process",
        "result",
        "fd = call(434, os.getppid(), 0)\nresult = fd >= 0 and call(438, fd, 0, 0) >= 0",
    ),
    Attack(
        "ptrace and /proc",
        "open the guard's descriptors",
        "result",
        "for process in (1, os.getppid()):\n    for fd in range(10):\n        result = result or attempt(os.open, f'/proc/{process}/fd/{fd}', os.O_WRONLY)",
    ),
    Attack(
        "ptrace and /proc",
        "compare kernel objects of processes",
        "result",
        "result = call(312, os.getpid(), @VICTIM@, 0, 0, 0) >= 0",
    ),
    Attack(
        "ptrace and /proc",
        "renice a process of the user",
        "the victim",
        "os.setpriority(os.PRIO_PROCESS, @VICTIM@, 19)",
    ),
    Attack(
        "ptrace and /proc",
        "renice all processes of the user",
        "the victim",
        "os.setpriority(os.PRIO_USER, os.getuid(), 19)",
    ),
    Attack(
        "ptrace and /proc",
        "pin a process of the user to a processor",
        "the victim",
        "os.sched_setaffinity(@VICTIM@, [0])",
    ),
    Attack(
        "ptrace and /proc",
        "change the limits of a process of the user",
        "the victim",
        "resource.prlimit(@VICTIM@, resource.RLIMIT_NOFILE, (3, 3))",
    ),
    Attack(
        "ptrace and /proc",
        "make the kernel prefer to kill a process of the user",
        "result",
        "result = attempt(lambda: open('/proc/@VICTIM@/oom_score_adj', 'w').write('1000') > 0)",
    ),
    Attack(
        "ptrace and /proc",
        "change a setting of the kernel",
        "result",
        "result = attempt(lambda: open('/proc/sys/kernel/hostname', 'w').write('hostile') > 0)",
    ),
]

_IPC: Final = [
    Attack(
        "IPC",
        "write shared memory of System V",
        "the segment",
        "at = libc.shmat\nat.restype = ctypes.c_void_p\nwhere = at(@SHM@, None, 0)\nresult = where not in (None, 2**64 - 1)\nif result:\n    ctypes.memmove(where, b'hostile', 7)",
    ),
    Attack("IPC", "remove shared memory of System V", "the segment", "libc.shmctl(@SHM@, 0, None)"),
    Attack(
        "IPC",
        "remove all shared memory, semaphores and queues",
        "the segment",
        "for number in range(64):\n    libc.shmctl(number, 0, None)\n    libc.semctl(number, 0, 0)\n    libc.msgctl(number, 0, None)",
    ),
    Attack(
        "IPC", "make shared memory that outlives it", "result", "result = libc.shmget(0x@HEX@, 4096, 0o1666) >= 0", ()
    ),
    Attack(
        "IPC",
        "read a message queue of System V",
        "result",
        "result = libc.msgrcv(@MSG@, ctypes.create_string_buffer(64), 32, 0, 0o4000) >= 0",
    ),
    Attack(
        "IPC",
        "write POSIX shared memory",
        "the segment",
        "fd = os.open('/dev/shm/@TAG@', os.O_RDWR)\nos.write(fd, b'hostile')",
    ),
    Attack(
        "IPC",
        "open a POSIX message queue",
        "result",
        "result = call(240, b'hostile@TAG@', os.O_CREAT | os.O_RDWR, 0o666, None) >= 0",
    ),
    Attack(
        "IPC", "keep a key in the kernel", "result", "result = call(248, b'user', b'hostile@TAG@', b'x', 1, -5) > 0"
    ),
    Attack(
        "IPC",
        "search the user's keys",
        "result",
        "result = call(250, 0, -4, 0) > 0 or call(249, b'user', b'x', None, -4) > 0",
    ),
]

_KERNEL: Final = [
    Attack("namespaces", "make a user namespace", "result", "result = libc.unshare(0x10000000) == 0"),
    Attack(
        "namespaces",
        "make a user namespace by clone",
        "result",
        "for number in (call(56, 0x10000000 | 17, 0, 0, 0, 0), call(435, struct.pack('Q', 0x10000000) + bytes(80), 88)):\n    if number == 0:\n        os._exit(0)\n    result = result or number > 0",
    ),
    Attack(
        "namespaces",
        "enter the namespaces of another process",
        "result",
        "for kind in ('user', 'mnt', 'pid', 'net'):\n    result = result or attempt(lambda: libc.setns(os.open(f'/proc/@VICTIM@/ns/{kind}', 0), 0) == 0)",
    ),
    Attack(
        "mounts",
        "mount a file system",
        "the folder",
        "result = libc.mount(b'none', b'@FOLDER@', b'tmpfs', 0, None) == 0 or libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0",
    ),
    Attack(
        "mounts",
        "make the root folder writable",
        "result",
        "result = libc.mount(None, b'/', None, 32 | 4096, None) == 0 or libc.mount(None, b'/usr', None, 32 | 4096, None) == 0",
    ),
    Attack(
        "mounts",
        "unmount /proc and /tmp",
        "result",
        "result = libc.umount2(b'/proc', 2) == 0 or libc.umount2(b'/tmp', 2) == 0",
    ),
    Attack(
        "mounts",
        "use the new calls for mounts",
        "result",
        "result = call(430, b'tmpfs', 0) >= 0 or call(428, -100, b'/', 1) >= 0",
    ),
    Attack(
        "kernel",
        "load a program into the kernel",
        "result",
        "result = call(321, 0, ctypes.create_string_buffer(128), 128) >= 0",
    ),
    Attack(
        "kernel",
        "open performance counters",
        "result",
        "result = call(298, struct.pack('II', 1, 128) + bytes(120), 0, -1, -1, 0) >= 0",
    ),
    Attack("kernel", "handle faults of memory itself", "result", "result = call(323, 1) >= 0"),
    Attack(
        "kernel",
        "restart the machine, set the clock, load a module",
        "result",
        "result = call(169, 0, 0, 0, 0) == 0 or call(227, 0, struct.pack('qq', 1, 0)) == 0 or call(175, b'', 0, b'') == 0",
    ),
    Attack(
        "kernel",
        "use the interface of 32 bits",
        "result",
        "code = __import__('mmap').mmap(-1, 4096, prot=7)\ncode.write(bytes.fromhex('b814000000cd80c3'))\naddress = ctypes.addressof(ctypes.c_char.from_buffer(code))\nresult = ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0",
    ),
    Attack("kernel", "use the interface of x32", "result", "result = call(0x40000000 + 41, 2, 1, 0) >= 0"),
    Attack(
        "kernel",
        "gain rights by a setuid program",
        "result",
        "import subprocess\nresult = attempt(lambda: b'uid=0' in subprocess.run(['su', '-c', 'id'], input=b'', capture_output=True).stdout)",
    ),
    Attack(
        "kernel",
        "become root or another user",
        "result",
        "result = libc.setuid(0) == 0 and os.geteuid() == 0 or libc.setresuid(1, 1, 1) == 0",
    ),
]

_RESOURCES: Final = [
    Attack("time", "use the processor without end", "the outcome", "while True: pass", ("timeout",)),
    Attack(
        "time",
        "use the processor in many processes",
        "the outcome",
        "for _ in range(8):\n    os.fork()\nwhile True: pass",
        ("timeout", "forbidden", "memory", "exception"),
    ),
    Attack(
        "time",
        "sleep deaf to all signals",
        "the outcome",
        "for s in range(1, 65):\n    attempt(signal.signal, s, signal.SIG_IGN)\nwhile True: time.sleep(1)",
        ("timeout",),
    ),
    Attack(
        "time",
        "stop itself",
        "the outcome",
        "os.kill(os.getpid(), signal.SIGSTOP)\ntime.sleep(60)",
        ("timeout", "forbidden"),
    ),
    Attack(
        "memory",
        "take more memory than allowed",
        "the outcome",
        "kept = []\nwhile True: kept.append(bytearray(2**22))",
        ("memory",),
    ),
    Attack(
        "memory",
        "take the memory in several processes",
        "the outcome",
        "for _ in range(7):\n    if not os.fork():\n        break\nkept = bytearray(120 * 2**20)\nkept[::4096] = bytes(len(kept[::4096]))\nos.urandom(8)\nfor i in range(0, len(kept), 4096):\n    kept[i] = 1\ntime.sleep(60)",
        ("memory", "forbidden"),
    ),
    Attack(
        "memory",
        "take memory in shared mappings of processes",
        "the outcome",
        "import mmap\nfor _ in range(5):\n    if not os.fork():\n        break\nm = mmap.mmap(-1, 150 * 2**20)\nfor i in range(0, len(m), 4096):\n    m[i] = 1\ntime.sleep(60)",
        ("memory", "forbidden"),
    ),
    Attack(
        "memory",
        "take memory in buffers of sockets",
        "the outcome",
        "kept = []\nfor _ in range(63):\n    if not os.fork():\n        break\nwhile True:\n    try:\n        a, b = socket.socketpair()\n    except OSError:\n        break\n    kept += [a, b]\n    for s in (a, b):\n        s.setblocking(False)\n        while True:\n            try:\n                s.send(bytes(2**16))\n            except OSError:\n                break\ntime.sleep(60)",
        ("memory", "forbidden"),
    ),
    Attack(
        "memory",
        "raise the buffer of a socket",
        "result",
        "a, b = socket.socketpair()\nresult = attempt(a.setsockopt, socket.SOL_SOCKET, socket.SO_SNDBUF, 2**27)",
    ),
    Attack(
        "memory",
        "raise the buffer of a pipe",
        "result",
        "import fcntl\nresult = attempt(fcntl.fcntl, os.pipe()[0], 1031, 2**20)",
    ),
    Attack("memory", "make a file in memory", "result", "result = call(319, b'x', 0) >= 0 or call(447, 0) >= 0"),
    Attack(
        "memory",
        "fill the temporary folders",
        "the outcome and the folders",
        "total = 0\nfor folder in ('/tmp', '/dev/shm'):\n    try:\n        for number in range(100):\n            with open(f'{folder}/hostile@TAG@{number}', 'wb') as s:\n                for _ in range(8):\n                    total += s.write(bytes(2**20))\n    except OSError:\n        pass\nresult = total > 130 * 2**20",
    ),
    Attack(
        "memory",
        "fill the kernel with empty files",
        "the outcome",
        "for number in range(2000000):\n    os.close(os.open(f'/tmp/hostile@TAG@{number}', os.O_CREAT | os.O_WRONLY))\nresult = True",
        ("memory", "timeout", "forbidden"),
    ),
    Attack(
        "memory",
        "lift its own limits",
        "result",
        "for limit in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE, resource.RLIMIT_CPU):\n    result = result or attempt(resource.setrlimit, limit, (2**40, 2**40))",
    ),
    Attack("memory", "lock memory", "result", "result = libc.mlockall(3) == 0"),
    Attack(
        "forks",
        "fork without end",
        "the outcome",
        "while True:\n    os.fork()",
        ("timeout", "memory", "exception", "forbidden"),
    ),
    Attack(
        "forks",
        "have more processes than allowed",
        "result",
        "count = 0\ntry:\n    for _ in range(200):\n        if not os.fork():\n            time.sleep(60)\n        count += 1\nexcept OSError:\n    pass\nresult = count >= 64",
    ),
    Attack(
        "forks",
        "have more threads than allowed",
        "result",
        "count = 0\nthreading.stack_size(2**16)\ntry:\n    for _ in range(5000):\n        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n        count += 1\nexcept RuntimeError:\n    pass\nresult = '@LEVEL@' == 'bubblewrap' and count >= 64",
    ),
    Attack(
        "descriptors",
        "have more descriptors than allowed",
        "result",
        "count = 0\ntry:\n    while count < 5000:\n        os.dup(0)\n        count += 1\nexcept OSError:\n    pass\nresult = count >= 128",
    ),
    Attack(
        "descriptors",
        "find a descriptor that is not its own",
        "result",
        "kinds = []\nfor fd in range(1024):\n    try:\n        kinds.append(os.fstat(fd).st_mode & 0o170000)\n    except OSError:\n        pass\nresult = len(kinds) > 5 or kinds.count(0o010000) > 2",
    ),
    Attack(
        "descriptors",
        "write to a terminal of the user",
        "result",
        "result = attempt(open, '/dev/tty', 'w') or attempt(open, '/dev/pts/0', 'w') or attempt(open, '/dev/console', 'w')",
    ),
    Attack(
        "descriptors",
        "read the disk",
        "result",
        "for name in ('vda', 'sda', 'nvme0n1', 'mem', 'kmsg', 'kvm', 'fuse', 'net/tun'):\n    result = result or attempt(open, '/dev/' + name, 'rb')",
    ),
]

_DAEMON: Final = """
def hide():
    os.setsid()
"""
_LEFTOVERS: Final = [
    Attack(
        "leftovers",
        "go on as a daemon",
        "the processes",
        _DAEMON
        + "if not os.fork():\n    hide()\n    if not os.fork():\n        time.sleep(120)\n    os._exit(0)\nresult = False",
    ),
    Attack(
        "leftovers",
        "go on after the tests in a thread",
        "the processes",
        "threading.Thread(target=time.sleep, args=(120,)).start()",
    ),
    Attack(
        "leftovers",
        "start again at every end",
        "the processes",
        "import atexit\ndef again():\n    if not os.fork():\n                time.sleep(120)\natexit.register(again)\nsys.exit(0)",
    ),
    Attack(
        "leftovers",
        "go on as a program of the system",
        "the processes",
        "import subprocess\nsubprocess.Popen(['sleep', '120.@DIGITS@'], start_new_session=True)",
    ),
    Attack(
        "leftovers",
        "do not end with the guard",
        "the processes",
        "libc.prctl(1, 0, 0, 0, 0)\ntime.sleep(120)",
    ),
]

ATTACKS: Final = [*_FILES, *_SOCKETS, *_SIGNALS, *_PROCESSES, *_IPC, *_KERNEL, *_RESOURCES, *_LEFTOVERS]
