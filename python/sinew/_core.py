# SPDX-License-Identifier: MIT
"""What every module uses: errors, arrays, calls that take long."""
from __future__ import annotations

import glob
import os
import threading
from pathlib import Path
from typing import Any, Callable, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._sinew import ffi as ffi, lib as lib

Array = npt.NDArray[np.float64]
PathLike = Union[str, "os.PathLike[str]"]

# --- errors ----------------------------------------------------------------------------------------


class Error(Exception):
    """What sinew says went wrong, in its own sentence.

    ``line`` is the line of a text file that it is about, 0 for none; ``file`` the file's name, where
    one was read. Every status of the library has a class of its own below this one.
    """

    def __init__(self, text: str, line: int = 0, file: str = "") -> None:
        self.text, self.line, self.file = text, line, file
        place = f"{file}:{line}: " if file and line > 0 else f"{file}: " if file else ""
        if not file and line > 0:
            place = f"line {line}: "
        super().__init__(place + text)

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.text, self.line, self.file)


class ArgumentError(Error, ValueError):
    """An argument is missing or out of range."""


class ShapeError(ArgumentError):
    """An array has another shape than it must have."""


class SizeError(Error, ValueError):
    """Something is larger than sinew allows."""


class ParseError(Error, ValueError):
    """A file is not well formed."""


class ModelError(Error, ValueError):
    """A model is not valid."""


class TaskError(Error, ValueError):
    """A task is not valid."""


class NumberError(Error, ValueError):
    """A number is not finite or not in its range."""


class FileError(Error, ValueError):
    """A file cannot be read or written."""


class Cancelled(Error):
    """The call was stopped."""


class UnsupportedError(Error, NotImplementedError):
    """This method does not know what the problem asks for."""


class OutOfMemory(Error, MemoryError):
    """There is no memory left."""


_classes = {
    lib.SN_ERR_MEMORY: OutOfMemory,
    lib.SN_ERR_ARGUMENT: ArgumentError,
    lib.SN_ERR_SIZE: SizeError,
    lib.SN_ERR_PARSE: ParseError,
    lib.SN_ERR_MODEL: ModelError,
    lib.SN_ERR_TASK: TaskError,
    lib.SN_ERR_VALUE: NumberError,
    lib.SN_ERR_FILE: FileError,
    lib.SN_ERR_CANCELLED: Cancelled,
    lib.SN_ERR_UNSUPPORTED: UnsupportedError,
}


def text_of(pointer: Any) -> str:
    """A C string."""
    return "" if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")


def new_error() -> Any:
    return ffi.new("sn_error *")


def check(status: int, error: Any = None, file: str = "") -> None:
    """Raise what a status and an sn_error say, unless all went well."""
    if status == lib.SN_OK:
        return
    text, line = "", 0
    if error is not None:
        text, line = text_of(error.text), int(error.line)
    raise _classes.get(status, Error)(text or text_of(lib.sn_status_text(status)), line, file)


# --- arrays ----------------------------------------------------------------------------------------

_doubles = ffi.typeof("double[]")
_from_buffer = ffi.from_buffer
float64 = np.dtype(np.float64)


def address(array: Array) -> Any:
    """A contiguous array's numbers as a ``double *``; it lives as long as the array does."""
    return _from_buffer(_doubles, array)


def show_shape(shape: Sequence[Any]) -> str:
    inside = ", ".join(str(s) for s in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"


def as_array(name: str, value: Any) -> Array:
    """Any array of numbers as contiguous doubles, without a copy where it is that already."""
    if type(value) is np.ndarray and value.dtype is float64 and value.flags.c_contiguous:
        return value
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            array = np.asarray(value, dtype=np.float64)
        return np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
    except (TypeError, ValueError) as why:
        raise ArgumentError(f"{name} must be an array of numbers: {why}") from None


def as_numbers(name: str, value: Any) -> Array:
    """Any array of numbers as doubles, with the strides it has where it holds doubles already."""
    if type(value) is np.ndarray and value.dtype == float64 and value.dtype.isnative and value.flags.aligned:
        return value
    return as_array(name, value)


def shaped(name: str, value: Any, *shapes: Tuple[Any, ...], what: str = "") -> Array:
    """An array with one of these shapes; a string in a shape stands for any size."""
    array = as_array(name, value)
    for shape in shapes:
        if len(shape) == array.ndim and all(isinstance(w, str) or w == g for w, g in zip(shape, array.shape)):
            return array
    wanted = " or ".join(show_shape(s) for s in shapes)
    raise ShapeError(f"{name} has the shape {show_shape(array.shape)}, but must have {wanted}{': ' + what if what else ''}")


def vector(name: str, value: Any, n: int, what: str = "") -> Array:
    return shaped(name, value, (n,), what=what)


def view(pointer: Any, shape: Tuple[int, ...], owner: Any) -> Array:
    """C memory as an array, without a copy. It keeps its owner alive."""
    count = int(np.prod(shape, dtype=np.int64))
    if count == 0 or pointer == ffi.NULL:
        return np.zeros(shape)
    held = ffi.gc(ffi.cast("double *", pointer), lambda _: owner)
    result: Array = np.frombuffer(ffi.buffer(held, 8 * count), dtype=np.float64).reshape(shape)
    return result


_numpy_of = {"double": "f8", "float": "f4", "int": "i4", "short": "i2", "_Bool": "?", "bool": "?", "unsigned char": "u1",
             "long": f"i{ffi.sizeof('long')}"}


def dtype_of(name: str) -> np.dtype[Any]:
    """A numpy type with the layout of a C struct; numbers and enumerations only."""
    kind = ffi.typeof(name)
    names, formats, offsets = [], [], []
    for field, about in kind.fields:
        one = about.type
        if one.kind == "enum":
            form: Any = "i4"
        elif one.kind == "struct":
            form = dtype_of(one.cname)
        elif one.kind == "array":
            item = one.item
            base = dtype_of(item.cname) if item.kind == "struct" else np.dtype(_numpy_of[item.cname])
            form = (base, (one.length,))
        elif one.cname in _numpy_of:
            form = _numpy_of[one.cname]
        else:
            continue
        names.append(field)
        formats.append(form)
        offsets.append(about.offset)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": ffi.sizeof(kind)})


def struct_array(name: str, count: int) -> Tuple[npt.NDArray[Any], Any]:
    """An array of C structs: as numpy sees it, and as C does."""
    array = np.zeros(count, dtype=dtype_of(name))
    return array, ffi.from_buffer(ffi.typeof(name + "[]"), array)


def struct_view(name: str, pointer: Any, count: int) -> npt.NDArray[Any]:
    """A copy of C structs as a numpy array."""
    if count == 0 or pointer == ffi.NULL:
        return np.zeros(0, dtype=dtype_of(name))
    size = ffi.sizeof(name) * count
    return np.frombuffer(bytes(ffi.buffer(pointer, size)), dtype=dtype_of(name)).copy()


def encoded(text: Optional[str], keep: list[Any]) -> Any:
    """A C string that lives in `keep`; NULL for None."""
    if text is None:
        return ffi.NULL
    made = ffi.new("char[]", text.encode("utf-8"))
    keep.append(made)
    return made


def strings(texts: Sequence[str], keep: list[Any]) -> Any:
    made = [encoded(t, keep) for t in texts]
    array = ffi.new("const char *[]", made) if made else ffi.NULL
    keep.append(array)
    return array


def choice(name: str, word: str, words: Sequence[str]) -> int:
    """Which of the words it is."""
    if word in words:
        return list(words).index(word)
    raise ArgumentError(f"{name} must be one of {', '.join(words)}, not {word!r}")


# --- bytes -----------------------------------------------------------------------------------------


def written(write: Callable[[Any, Any], int]) -> bytes:
    """What a writer sends: write(sink, error) gives its status."""
    gathered = ffi.new("snpy_bytes *")
    sink = ffi.new("sn_sink *", lib.snpy_bytes_sink(gathered))
    error = new_error()
    try:
        check(write(sink, error), error)
        return bytes(ffi.buffer(gathered.data, gathered.length)) if gathered.length > 0 else b""
    finally:
        lib.snpy_bytes_free(gathered)


def _hold(file: Any) -> None:
    """As the program does, so that a run that cleans up after a dead one sees that this one is alive."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):  # a file system without locks
        pass


def save_all(files: Sequence[Tuple[PathLike, bytes]]) -> None:
    """Each beside the wanted file, then all in their places: no file is left half-written, and none without the others."""
    parts: list[Tuple[Any, str, str]] = []
    try:
        for path, data in files:
            target = os.path.realpath(path)
            part = f"{target}.part-{os.getpid()}-{threading.get_ident()}"
            parts.append((open(part, "wb"), part, target))
            _hold(parts[-1][0])
            parts[-1][0].write(data)
            parts[-1][0].flush()
        while parts:
            os.replace(parts[0][1], parts[0][2])
            parts.pop(0)[0].close()
    finally:
        for file, part, _ in parts:
            file.close()
            os.unlink(part)


def remove_dead(path: PathLike) -> None:
    """What runs that were killed outright left of a file; that of one that is alive stays."""
    target = Path(os.path.realpath(path))
    for part in target.parent.glob(glob.escape(target.name) + ".part-*"):
        try:
            import fcntl

            with open(part, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()
        except (ImportError, OSError):
            pass


def save_bytes(path: PathLike, data: bytes) -> None:
    save_all([(path, data)])


def read_bytes(path: PathLike) -> bytes:
    return Path(path).read_bytes()


# --- threads and calls that take long --------------------------------------------------------------


def cores() -> int:
    """Cores that this process may use."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:
        return max(1, os.cpu_count() or 1)


def thread_count(threads: Optional[int]) -> int:
    n = cores() if threads is None else int(threads)
    if not 1 <= n <= 256:
        raise ArgumentError(f"threads must be from 1 to 256, not {threads}")
    return n


class Group:
    """Calls of several threads that are stopped together: with it, what a thread calls belongs to the group."""

    _of = threading.local()

    def __init__(self) -> None:
        self.runs: list[Any] = []
        self.stopped = False

    def __enter__(self) -> None:
        Group._of.group = self

    def __exit__(self, *why: Any) -> None:
        Group._of.group = None

    def stop(self) -> None:
        self.stopped = True
        for run in list(self.runs):
            lib.snpy_run_stop(run, True)


class Run:
    """A call that can be stopped and watched. ``cancel`` goes into the options of the call."""

    def __init__(self) -> None:
        self.c = ffi.gc(lib.snpy_run_create(), lib.snpy_run_destroy)
        if self.c == ffi.NULL:
            raise OutOfMemory("out of memory")
        self.group: Optional[Group] = getattr(Group._of, "group", None)

    def state(self) -> Tuple[float, ...]:
        out = ffi.new("double[5]")
        lib.snpy_run_state(self.c, out)
        return tuple(out)

    def call(self, job: Callable[[], Any], show: Optional[Callable[[Tuple[float, ...]], None]] = None) -> Any:
        """Do the job in a thread of its own, while this one minds Ctrl-C and shows how far it is.

        A signal stops the job, which ends within some hundredths of a second; what its handler raised
        is then raised here.
        """
        if show is None and threading.current_thread() is not threading.main_thread():
            return job() if self.group is None else self._in_group(self.group, job)
        outcome: list[Any] = []
        failed: list[BaseException] = []
        begun: list[bool] = []
        # A signal may come anywhere in this thread, also while the other is starting; nothing may be freed while the
        # job runs. Thread.join() that a signal interrupts even takes the thread for dead (CPython 3.11, bpo-45274).
        # So the lists say whether the job has begun and ended, and the lock `ended` only wakes
        gate, ended = threading.Lock(), threading.Lock()
        ended.acquire()

        def work() -> None:
            with gate:
                if begun:  # with False: nobody waits for it any more
                    return
                begun.append(True)
            try:
                outcome.append(job())
            except BaseException as why:
                failed.append(why)
            ended.release()

        lib.snpy_run_stop(self.c, False)
        try:
            threading.Thread(target=work, name="sinew", daemon=True).start()
            while not (outcome or failed):
                ended.acquire(timeout=0.05)
                if show is not None:
                    show(self.state())
        except BaseException:
            lib.snpy_run_stop(self.c, True)
            self._wait(gate, begun, lambda: bool(outcome or failed), ended)
            raise
        if failed:
            raise failed[0]
        return outcome[0]


    def _in_group(self, group: Group, job: Callable[[], Any]) -> Any:
        group.runs.append(self.c)
        try:
            if group.stopped:
                raise Cancelled("the call was stopped")
            return job()
        finally:
            group.runs.remove(self.c)

    @staticmethod
    def _wait(gate: Any, begun: list[bool], over: Callable[[], bool], ended: Any) -> None:
        """Until the job has ended, or can no longer begin; another Ctrl-C changes nothing."""
        while True:
            try:
                with gate:
                    if not begun:
                        begun.append(False)
                if not begun[0]:
                    return
                while not over():
                    ended.acquire(timeout=0.01)
                return
            except KeyboardInterrupt:
                continue


_STAGES = ("prepare", "calibrate", "solve", "finish")
_DOING = {"prepare": "preparing", "calibrate": "calibrating", "solve": "solving", "finish": "finishing"}


class Bar:
    """A progress bar: tqdm's where it is installed, or whatever function is given.

    None: a bar where there is a terminal or a notebook to show it and the call takes long; True: always;
    False: none; a function: called with the stage, its share, frames done and frames in all.
    """

    def __init__(self, progress: Any, unit: str, total: int = 0) -> None:
        self.function = progress if callable(progress) and not isinstance(progress, bool) else None
        self.bar: Any = None
        if progress is True or progress is None:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self.bar = tqdm(total=total or None, unit=unit, leave=False, delay=0.5 if progress is None else 0,
                            disable=None if progress is None else False)

    @property
    def show(self) -> Optional[Callable[[Tuple[float, ...]], None]]:
        return self.update if self.bar is not None or self.function is not None else None

    def update(self, state: Tuple[float, ...]) -> None:
        stage, done, total, share, _ = state
        word = _STAGES[int(stage) + 1]
        if self.function is not None:
            self.function(word, share, int(done), int(total))
        if self.bar is None:
            return
        # of every stage the share in frames, so that the bar is full at the end of each
        frames = self.bar.total or int(total)
        if frames:
            self.bar.total, self.bar.n = frames, int(share * frames)
            self.bar.set_description(_DOING[word])

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
